// What a request of mcpbx/chat says: `input`, or `messages`, or the results of a parked run's calls.
#pragma once
#include "daemon/loop/run/runner.hpp"
#include "mcp/server/param_reader.hpp"

namespace mcpbx::daemon {

/// Reads `input` and `messages` into the request's messages, or into its results where they are those of a run that
/// handed calls to its caller. What is wrong stays in `in`. The request's `run` has been read.
void read_chat_messages(mcp::param_reader& in, run_request& r);

}  // namespace mcpbx::daemon

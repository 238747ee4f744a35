// The conversation of a mcpbx/chat request: `input`, `messages`, or results of a parked run's calls.
#pragma once
#include "daemon/loop/run/runner.hpp"
#include "mcp/server/base/param_reader.hpp"

namespace mcpbx::daemon::chat {

/// Reads `input` and `messages` into the request's messages, or into its results if they belong to calls that a run
/// handed to its caller. Errors stay in `in`. The request's `run` must have been read.
void read_chat_messages(mcp::server::param_reader& in, run::run_request& r);

}  // namespace mcpbx::daemon::chat

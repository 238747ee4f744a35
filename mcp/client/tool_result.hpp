// What a tool server's answer to tools/call must look like before it is passed on (guarantees row 14).
#pragma once
#include "mcp/client/client.hpp"
#include "mcp/rpc/pending_calls.hpp"

namespace mcpbx::mcp {

/// The outcome of a tools/call as it may be passed on. A result of the wrong shape becomes errc::protocol; one of a
/// modern server that asks for input becomes errc::peer with what was asked, since questions are not passed on. Error
/// texts are clauses about the server ("answered …").
call_outcome checked_tool_outcome(call_outcome outcome, era server_era);

}  // namespace mcpbx::mcp

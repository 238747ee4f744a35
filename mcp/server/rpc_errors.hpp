// How our own failures look to callers: the one place where kinds of errors become JSON-RPC codes.
#pragma once
#include "mcp/rpc/rpc_message.hpp"
#include "mcp/support/error.hpp"

#include <string>
#include <string_view>

namespace mcpbx::mcp {

/// The JSON-RPC error for a failure. `data` is {"server"?, "cause", "retryable"?}: the server when one is to blame, the
/// kind as a word ("timed_out"), and `retryable: true` where the same request may succeed later without a change.
/// Configured secrets are taken out of the text.
rpc_error to_rpc_error(const error& e, std::string_view server = {});

/// -32602 with this text and no data: MCP's own methods name the member in it.
rpc_error invalid_params(std::string text);

}  // namespace mcpbx::mcp

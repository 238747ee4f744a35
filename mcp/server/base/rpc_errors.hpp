// JSON-RPC errors for mcpbx's own failures: the one place where kinds of errors become JSON-RPC codes.
#pragma once
#include "mcp/rpc/rpc_message.hpp"
#include "mcp/support/error.hpp"

#include <string>
#include <string_view>

namespace mcpbx::mcp::server {

/// Returns the JSON-RPC error for a failure, with configured secrets taken out. `data` is {"server"?, "cause",
/// "retryable"?}: the server at fault, the kind as a word ("timed_out"), true if a repeat may succeed.
rpc::rpc_error to_rpc_error(const error& e, std::string_view server = {});

/// Returns -32602 with this text and no data: MCP's own methods name the member in the text.
rpc::rpc_error invalid_params(std::string text);

}  // namespace mcpbx::mcp::server

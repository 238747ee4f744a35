// An answer to a request of /mcp that no session has made.
#pragma once
#include "mcp/http/server/server_connection.hpp"
#include "mcp/rpc/rpc_message.hpp"

#include <string>
#include <utility>

namespace mcpbx::daemon::mcp_door {

struct mcp_refusal {
  int status = 400;
  mcp::rpc::rpc_error error;
  mcp::rpc::rpc_id id;  ///< of the refused request; empty: it has none, or it could not be read

  static mcp_refusal invalid_request(int status, std::string text) {
    return {status, {mcp::rpc::code::invalid_request, std::move(text), {}}, {}};
  }
};

/// Returns the answer: a JSON-RPC error response, which has no `id` where there is none to echo (2025-11-25,
/// transports, "Sending Messages to the Server").
http::servers::server_answer refusal_answer(const mcp_refusal& r);

}  // namespace mcpbx::daemon::mcp_door

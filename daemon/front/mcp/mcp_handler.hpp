// /mcp: Streamable HTTP of all revisions at one path. README.md tells how the eras are told apart.
#pragma once
#include "daemon/front/exchange/exchange.hpp"

#include <memory>

namespace mcpbx::daemon::mcp_door {

/// Answers a POST: one message of a session, or one request without a session.
void handle_mcp_post(const std::shared_ptr<routes::exchange>& x);
/// Opens a stream of a session, or goes on with one.
void handle_mcp_get(const std::shared_ptr<routes::exchange>& x);
/// Ends a session.
void handle_mcp_delete(const std::shared_ptr<routes::exchange>& x);

}  // namespace mcpbx::daemon::mcp_door

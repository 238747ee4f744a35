// mcpbx's own methods on the socket, bound once for all connections.
#pragma once
#include "daemon/front/rpc/rpc_caller.hpp"

namespace mcpbx::daemon {

/// hello, status, stop, cancel, and what this version does not have yet but knows by name.
void add_daemon_methods(own_methods& table);
/// servers, restart, tools.
void add_tool_methods(own_methods& table);
/// pins/list, pins/accept.
void add_pin_methods(own_methods& table);
/// models.
void add_model_methods(own_methods& table);
/// chat, attach.
void add_chat_methods(own_methods& table);

/// sessions/list, get, delete.
void add_session_methods(own_methods& table);

/// The result of mcpbx/status.
raw_json status_of(door_context& door);
/// The result of mcpbx/servers: a list.
raw_json servers_of(const std::vector<mcp::server_status>& servers);

}  // namespace mcpbx::daemon

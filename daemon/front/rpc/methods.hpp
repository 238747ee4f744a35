// mcpbx's own methods on the socket, bound once for all connections.
#pragma once
#include "daemon/front/rpc/rpc_caller.hpp"

namespace mcpbx::daemon::rpc_door {

/// Adds hello, status, stop, cancel, and the methods of later versions, which are refused by name.
void add_daemon_methods(front::own_methods& table);
/// Adds servers, restart, names, tools.
void add_tool_methods(front::own_methods& table);
/// Adds why.
void add_why_method(front::own_methods& table);
/// Adds pins/list, pins/accept.
void add_pin_methods(front::own_methods& table);
/// Adds auth/login, auth/wait, auth/cancel, auth/complete, auth/status, auth/logout.
void add_auth_methods(front::own_methods& table);
/// Adds models.
void add_model_methods(front::own_methods& table);
/// Adds chat, attach and answer.
void add_chat_methods(front::own_methods& table);
/// Answers `mcpbx/chat` with `dryRun`: how the run would begin. Nothing is sent to a model or a tool server, and
/// nothing is stored.
void tell_beginning(rpc_caller& c, run::run_request r, const chat::chat_opening& opening,
                    const mcp::server::reply_once& reply);

/// Adds sessions/list, sessions/get, sessions/delete.
void add_session_methods(front::own_methods& table);

/// Adds stats, sessions/find.
void add_history_methods(front::own_methods& table);
/// Adds logs.
void add_log_methods(front::own_methods& table);
/// Adds stats/live.
void add_stats_methods(front::own_methods& table);

/// Writes the members about the calls of a tool server: calls, failedCalls, callsPerSecond, and p50Ms and p95Ms if
/// there were any of late.
void append_calls(json::json_writer& out, const mcp::clients::call_counts& calls);
/// Returns the result of mcpbx/stats/live.
json::raw_json live_stats_of(front::door_context& door);
/// Returns the result of mcpbx/status.
json::raw_json status_of(front::door_context& door);
/// Returns the result of mcpbx/servers: a list.
json::raw_json servers_of(const std::vector<mcp::clients::server_status>& servers);

}  // namespace mcpbx::daemon::rpc_door

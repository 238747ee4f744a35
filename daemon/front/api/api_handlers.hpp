// Handlers of /api and of the paths that tell whether the daemon lives.
#pragma once
#include "daemon/front/exchange/exchange.hpp"

#include <memory>

namespace mcpbx::daemon::api_door {

/// mcpbx/chat: its events as a stream if `Accept` names text/event-stream, else its result. With `Last-Event-ID` the
/// stream goes on behind that event.
void handle_api_chat(const std::shared_ptr<routes::exchange>& x);
/// mcpbx/status, mcpbx/servers, mcpbx/tools.
void handle_api_status(const std::shared_ptr<routes::exchange>& x);
void handle_api_servers(const std::shared_ptr<routes::exchange>& x);
void handle_api_tools(const std::shared_ptr<routes::exchange>& x);
/// mcpbx/sessions/list, and mcpbx/sessions/get for one.
void handle_api_sessions(const std::shared_ptr<routes::exchange>& x);
void handle_api_session(const std::shared_ptr<routes::exchange>& x);
/// The description of all paths.
void handle_api_description(const std::shared_ptr<routes::exchange>& x);

/// Answers 200 as long as the daemon answers anything.
void handle_alive(const std::shared_ptr<routes::exchange>& x);
/// Answers 200 if the daemon takes work: each server that starts by itself has had its first try, the journal can be
/// written, and the daemon is not stopping; else 503 with the reasons. A caller that may read /api/status is also told
/// the names of servers that are not ready, which make nothing unready.
void handle_ready(const std::shared_ptr<routes::exchange>& x);

}  // namespace mcpbx::daemon::api_door

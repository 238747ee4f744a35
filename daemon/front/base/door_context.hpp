// State that all callers of a door share, whatever their protocol.
#pragma once
#include "daemon/answers/own_answers.hpp"
#include "daemon/front/base/backend.hpp"
#include "daemon/front/base/begun_names.hpp"
#include "daemon/front/base/caller.hpp"
#include "daemon/front/base/handed_calls.hpp"
#include "daemon/front/base/http_access.hpp"
#include "daemon/front/base/kept_responses.hpp"
#include "daemon/front/base/news_round.hpp"
#include "daemon/front/base/outgoing_queue.hpp"
#include "daemon/front/chat/chat_params.hpp"
#include "daemon/guard/audit/audit_log.hpp"
#include "daemon/loop/tools/round_tools.hpp"
#include "daemon/policy/policy.hpp"
#include "mcp/client/stderr_lines.hpp"
#include "mcp/json/json_writer.hpp"
#include "mcp/server/base/method_table.hpp"
#include "mcp/server/base/task_routes.hpp"
#include "mcp/server/caller_session.hpp"
#include "mcp/server/held_calls.hpp"
#include "mcp/support/time.hpp"
#include "mcp/transport/stream_transport.hpp"

#include <boost/asio/any_io_executor.hpp>

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <unordered_map>

namespace mcpbx::daemon::mcp_door {
class mcp_room;
}  // namespace mcpbx::daemon::mcp_door

namespace mcpbx::daemon::rpc_door {
class opening_reads;
class rpc_caller;
}  // namespace mcpbx::daemon::rpc_door

namespace mcpbx::daemon::front {

using own_methods = mcp::server::method_table<rpc_door::rpc_caller>;

/// Load of a door at one moment.
struct door_load {
  std::size_t callers = 0, outbox_bytes = 0, largest_outbox = 0, open_requests = 0;
  door_counters counters;  ///< of all callers, including those that left
};

/// State that all callers of a door share. Outlives them.
struct door_context {
  struct options {
    std::string version;     ///< of mcpbx
    std::string socket;      ///< its path, for mcpbx/status
    std::string http;        ///< HOST:PORT where HTTP is served as well, for mcpbx/status; or ""
    std::string token_file;  ///< path of the file with the token of that port, for mcpbx/status; or ""
    std::size_t max_callers = 4096;
    /// Most runs of one connection: requests that wait for a run, and running detached runs that it started.
    std::size_t max_runs_per_caller = 64;
    mcp::callers::caller_session::options session;
    mcp::callers::held_calls::options held;  ///< of calls that wait for answers of their callers
    outgoing_queue::options outbox;
    mcp::rpc::line_framer::options framing;
    chat::chat_source chat = chat::always(std::make_shared<const chat::chat_defaults>());
    http_rules port_rules{.on_port = true, .token = {}};  ///< rules for callers on the TCP port
    /// Looks for files of the configuration that have changed. Calls `then` once, at once or in a later turn; unset:
    /// there are none.
    std::function<void(std::function<void(const std::vector<std::string>&)> then)> look_at_files = {};
    /// Writes the members of hello about the daemon's start, for the person only, with the files that have changed
    /// since; unset: none.
    std::function<void(json::json_writer&, const std::vector<std::string>& changed)> tell_start = {};
    /// Writes the members of mcpbx/logs about the place of the daemon's log; unset: none.
    std::function<void(json::json_writer&)> tell_log = {};
    /// Returns the last lines of a server's stderr, or null; unset: there are none.
    std::function<std::shared_ptr<mcp::clients::stderr_lines>(const std::string& server)> stderr_of = {};
    /// Returns the present rules for calls that callers make themselves; `profile` and `then` are not used.
    std::function<policy::approval_rules()> approvals = [] { return policy::approval_rules{}; };
    audit::audit_log* audit = nullptr;        ///< records every tools/call; null: the audit is off
    answers::own_answers* answers = nullptr;  ///< answers tool servers for callers that cannot; null: nobody does
    tools::tool_adapter adapt =
        tools::schema_adapter();  ///< the converter that runs use, so that each tool is converted once
  };
  boost::asio::any_io_executor executor;
  time_source& time;
  backend& daemon;
  options settings;
  time_point started;
  std::int64_t started_wall_ms = 0;  ///< ms since 1970
  door_counters counters;            ///< totals of callers that have left
  own_methods methods;
  std::function<void(caller&)> on_gone;  ///< called after the caller has closed; destroys it in a later turn
  std::function<void()> relieve;         ///< called when more bytes are owned than permitted, to close callers
  std::function<door_load()> load;
  begun_names beginning{executor};
  std::unordered_map<std::string, std::weak_ptr<rpc_door::opening_reads>>
      openings{};                                      ///< runs that wait for what they begin with
  handed_calls handed;                                 ///< calls handed to callers over HTTP
  kept_responses responses{};                          ///< latest answers of /v1/responses
  mcp::callers::held_calls held{time, settings.held};  ///< calls whose callers have been asked something
  mcp::server::task_routes tasks;                      ///< tasks that calls have made
  mcp_door::mcp_room* mcp = nullptr;                   ///< sessions and requests at /mcp
  news_round news;                                     ///< news for all callers
  bool refuses_calls = false;  ///< the daemon is stopping: running work may end, new work is refused
  /// Cache of the last answer of mcpbx/tools, because listing ten thousand tools is expensive and callers can repeat
  /// it.
  struct {
    std::shared_ptr<const chat::chat_defaults> configured;
    std::uint64_t revision = 0;
    std::string key;
    json::raw_json result;
  } tools_cache;

  /// The catalog of a profile, by its name; made once per catalog and configuration.
  struct view {
    std::shared_ptr<const chat::chat_defaults> configured;
    mcp::catalogs::catalog_ptr whole, seen;
  };
  std::unordered_map<std::string, view> views;
  mcp::catalogs::catalog_ptr tools_for(const std::string& profile);

  /// Checks the owned bytes. To be called after an outbox has grown.
  void watch_bytes() const;
};

}  // namespace mcpbx::daemon::front

// What all callers of a door share, whatever they speak.
#pragma once
#include "daemon/front/base/backend.hpp"
#include "daemon/front/base/begun_names.hpp"
#include "daemon/front/base/caller.hpp"
#include "daemon/front/base/handed_calls.hpp"
#include "daemon/front/base/http_access.hpp"
#include "daemon/front/base/outgoing_queue.hpp"
#include "daemon/front/chat/chat_params.hpp"
#include "daemon/guard/audit/audit_log.hpp"
#include "daemon/loop/tools/round_tools.hpp"
#include "daemon/policy/policy.hpp"
#include "mcp/json/json_writer.hpp"
#include "mcp/server/caller_session.hpp"
#include "mcp/server/method_table.hpp"
#include "mcp/support/time.hpp"
#include "mcp/transport/stream_transport.hpp"

#include <boost/asio/any_io_executor.hpp>

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <unordered_map>

namespace mcpbx::daemon {

class rpc_caller;
using own_methods = mcp::method_table<rpc_caller>;

/// A door at one moment.
struct door_load {
  std::size_t callers = 0, outbox_bytes = 0, largest_outbox = 0, open_requests = 0;
  door_counters counters;  ///< of all callers, also those that are gone
};

/// What all callers of a door share. Outlives them.
struct door_context {
  struct options {
    std::string version;     ///< of mcpbx
    std::string socket;      ///< its path, for mcpbx/status
    std::string http;        ///< HOST:PORT where HTTP is served as well, for mcpbx/status; or ""
    std::string token_file;  ///< whose token is asked for there, for mcpbx/status; or ""
    std::size_t max_callers = 1024;
    /// Requests of a connection that wait for a run, and detached runs that it has started and that go on.
    std::size_t max_runs_per_caller = 64;
    mcp::caller_session::options session;
    outgoing_queue::options outbox;
    mcp::line_framer::options framing;
    chat_source chat = always(std::make_shared<const chat_defaults>());
    http_rules port_rules{.on_port = true, .token = {}};  ///< of callers that come by a TCP port
    /// What of the daemon's start hello tells the person; unset: nothing.
    std::function<void(json_writer&)> tell_start = {};
    /// Gives the rules for calls that callers make themselves, as they are now; `profile` and `then` are not used.
    std::function<approval_rules()> approvals = [] { return approval_rules{}; };
    audit_log* audit = nullptr;             ///< takes every tools/call; null: nobody does
    tool_adapter adapt = schema_adapter();  ///< the one of runs: what they see is converted once
  };
  boost::asio::any_io_executor executor;
  time_source& time;
  backend& daemon;
  options settings;
  time_point started;
  std::int64_t started_wall_ms = 0;  ///< ms since 1970
  door_counters counters;            ///< without those of the callers that are here
  own_methods methods;
  std::function<void(caller&)> on_gone;  ///< it has closed; it may be destroyed in a later turn
  std::function<void()> relieve;         ///< more bytes are owned than may be: something must go
  std::function<door_load()> load;
  begun_names beginning{executor};
  handed_calls handed;         ///< calls that callers over HTTP are to make
  bool refuses_calls = false;  ///< mcpbx is stopping: what goes on may end, nothing new begins
  /// The last answer of mcpbx/tools: making it for ten thousand tools is work that a caller can repeat at will.
  struct {
    std::shared_ptr<const chat_defaults> configured;
    std::uint64_t revision = 0;
    std::string key;
    raw_json result;
  } tools_cache;

  /// The catalog as callers with a profile see it, by its name; made once per catalog and configuration.
  struct view {
    std::shared_ptr<const chat_defaults> configured;
    mcp::catalog_ptr whole, seen;
  };
  std::unordered_map<std::string, view> views;
  mcp::catalog_ptr tools_for(const std::string& profile);

  /// To be called where an outbox has grown.
  void watch_bytes() const;
};

}  // namespace mcpbx::daemon

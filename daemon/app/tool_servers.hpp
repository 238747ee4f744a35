// The tool servers: the keeper that starts them, the pins of their tools, and their supervisor.
#pragma once
#include "conf/model/model.hpp"
#include "daemon/app/base_parts.hpp"
#include "daemon/app/callers/last_stranger.hpp"
#include "daemon/app/options/server_entries.hpp"
#include "daemon/app/process/stray_reaper.hpp"
#include "daemon/guard/pins/pin_guard.hpp"
#include "daemon/logins/logins.hpp"
#include "daemon/loop/tools/tool_source.hpp"
#include "mcp/client/connect/remote/remote_verdicts.hpp"
#include "mcp/client/stderr_lines.hpp"
#include "mcp/client/supervise/supervisor.hpp"
#include "mcp/http/client/http_client.hpp"
#include "mcp/process/keeper/keeper.hpp"
#include "mcp/socket/peer_process.hpp"

#include <sys/types.h>

#include <memory>
#include <string>

namespace mcpbx::daemon {

class tool_servers {
 public:
  /// All references but `config` must outlive this object.
  tool_servers(base_parts& base, blocking_lanes& lanes, http::client& client, const conf::configuration& config,
               mcp::keeper_handle keeper);

  /// Calls `listed` once, when the first tools are in the catalog.
  void when_listed(std::function<void()> listed);
  /// Runs the servers of the configuration, and no others (supervisor::apply).
  void apply(const conf::configuration& config);

  /// Returns the name of the tool server behind a connection, or "" for another program. A process below the keeper
  /// belongs to a tool server, whose entry decides; errc::unavailable: the caller is refused.
  result<std::string> admit(const mcp::peer_credentials& peer);
  mcp::process_owner owner_of(pid_t pid) const { return keeper_.owner_of(pid); }
  /// Returns true if the process is below the keeper, and may belong to a server whose start the keeper has yet to
  /// report.
  bool is_not_known_yet(pid_t pid) const;

  /// Reaps children that nobody waits for. To be called at SIGCHLD.
  void child_ended() { strays_.look(); }
  /// Ends the keeper. To be called after the supervisor has stopped.
  void shut_down() { keeper_.shut_down(); }

  /// Returns the book with the last lines of a server's stderr, or null if there is none.
  std::shared_ptr<mcp::stderr_lines> stderr_of(const std::string& server) const;

  mcp::supervisor& supervisor() noexcept { return servers_; }
  pin_guard& pins() noexcept { return pins_; }
  daemon::logins& logins() noexcept { return logins_; }
  tool_source& tools() noexcept { return tools_; }

 private:
  server_means means();
  void tokens_changed(const login_entry& entry, bool held);

  base_parts& base_;
  keyed_lanes& references_;
  http::client& client_;
  std::shared_ptr<mcp::remote_verdicts> verdicts_ = std::make_shared<mcp::remote_verdicts>();
  mcp::keeper keeper_;
  last_stranger last_stranger_;
  stray_reaper strays_;
  pin_guard pins_;
  daemon::logins logins_;  // before the servers, whose connections use it
  mcp::stderr_books books_;
  mcp::supervisor servers_;
  mcp::supervisor::subscription first_tools_;
  supervised_tools tools_;
};

}  // namespace mcpbx::daemon

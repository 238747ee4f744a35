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

namespace mcpbx::daemon::app {

class tool_servers {
 public:
  /// All references but `config` must outlive this object.
  tool_servers(base_parts& base, blocking_lanes& lanes, http::clients::client& client,
               const conf::model::configuration& config, mcp::keepers::keeper_handle keeper);

  /// Calls `listed` once, when the first tools are in the catalog.
  void when_listed(std::function<void()> listed);
  /// Runs the servers of the configuration, and no others (supervisor::apply).
  void apply(const conf::model::configuration& config);

  /// Returns the name of the tool server behind a connection, or "" for another program. A process below the keeper
  /// belongs to a tool server, whose entry decides; errc::unavailable: the caller is refused.
  result<std::string> admit(const mcp::socket::peer_credentials& peer);
  mcp::keepers::process_owner owner_of(pid_t pid) const { return keeper_.owner_of(pid); }
  /// Returns true if the process is below the keeper, and may belong to a server whose start the keeper has yet to
  /// report.
  bool is_not_known_yet(pid_t pid) const;

  /// Reaps children that nobody waits for. To be called at SIGCHLD.
  void child_ended() { strays_.look(); }
  /// Ends the keeper. To be called after the supervisor has stopped.
  void shut_down() { keeper_.shut_down(); }

  /// Returns the book with the last lines of a server's stderr, or null if there is none.
  std::shared_ptr<mcp::clients::stderr_lines> stderr_of(const std::string& server) const;

  mcp::supervise::supervisor& supervisor() noexcept { return servers_; }
  pins::pin_guard& pins() noexcept { return pins_; }
  logins::logins& logins() noexcept { return logins_; }
  tools::tool_source& tools() noexcept { return tools_; }

 private:
  options::server_means means();
  void tokens_changed(const logins::login_entry& entry, bool held);

  base_parts& base_;
  async::keyed_lanes& references_;
  http::clients::client& client_;
  std::shared_ptr<mcp::remote::remote_verdicts> verdicts_ = std::make_shared<mcp::remote::remote_verdicts>();
  mcp::keepers::keeper keeper_;
  callers::last_stranger last_stranger_;
  process::stray_reaper strays_;
  pins::pin_guard pins_;
  logins::logins logins_;  // before the servers, whose connections use it
  mcp::clients::stderr_books books_;
  mcp::supervise::supervisor servers_;
  mcp::supervise::supervisor::subscription first_tools_;
  tools::supervised_tools tools_;
};

}  // namespace mcpbx::daemon::app

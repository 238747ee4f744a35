// The entrances of the daemon: the front door, and callers whose process is not known yet.
#pragma once
#include "conf/model/model.hpp"
#include "daemon/app/base_parts.hpp"
#include "daemon/app/callers/early_callers.hpp"
#include "daemon/app/callers/port_callers.hpp"
#include "daemon/app/http_port.hpp"
#include "daemon/app/reloading.hpp"
#include "daemon/app/run_parts.hpp"
#include "daemon/app/started_world.hpp"
#include "daemon/app/tool_servers.hpp"
#include "daemon/front/base/backend.hpp"
#include "daemon/front/front_door.hpp"
#include "mcp/socket/tcp_socket.hpp"
#include "mcp/socket/unix_socket.hpp"

#include <memory>
#include <optional>
#include <string>

namespace mcpbx::daemon::app {

/// Open sockets that are not served yet. The Unix socket holds the lock that permits opening the store, so the listener
/// must outlive all parts that use the store.
struct open_sockets {
  std::unique_ptr<mcp::socket::unix_listener> local;
  std::unique_ptr<mcp::socket::loopback_listener> port;  ///< null: HTTP is served on the Unix socket only
};
/// Opens the socket at `path`, or takes the one that systemd passed in, and the port. errc::unavailable: another daemon
/// holds it.
result<open_sockets> open_sockets_at(base_parts& base, const std::string& path, const std::optional<http_port>& port);

class entrances {
 public:
  /// All references but `config` must outlive this object.
  entrances(base_parts& base, blocking_lanes& lanes, tool_servers& servers, run_parts& runs, started_world& world,
            reloading& reload, open_sockets& sockets, const conf::model::configuration& config,
            const std::string& socket);

  /// Accepts callers on the Unix socket.
  void open();
  /// Accepts callers on the port, if there is one.
  void open_port(const http_port& port);
  /// Stops accepting callers. Present callers stay connected, but their calls are refused.
  void begin_closing();

  door::front_door& door() noexcept { return door_; }

 private:
  open_sockets& sockets_;
  callers::port_callers port_callers_;
  front::live_backend backend_;
  door::front_door door_;
  callers::early_callers early_;
};

}  // namespace mcpbx::daemon::app

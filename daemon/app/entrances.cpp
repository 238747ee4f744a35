// Connection of the listening sockets with the front door.
#include "daemon/app/entrances.hpp"

#include "daemon/app/options/door_options.hpp"
#include "daemon/app/process/log_place.hpp"
#include "daemon/app/process/service.hpp"
#include "mcp/support/log.hpp"

#include <sys/types.h>

#include <utility>

namespace mcpbx::daemon::app {
namespace {

door::front_door::options door_options_with(run_parts& runs, started_world& world,
                                            const conf::model::configuration& config, const std::string& socket,
                                            const tool_servers& servers, reloading& reload) {
  auto o = options::door_options(config);
  o.socket = socket;
  o.audit = runs.audit();
  o.answers = &runs.answers();
  o.adapt = runs.adapter();
  o.chat = [&settings = runs.settings()] { return settings.get()->chat; };
  o.approvals = [&settings = runs.settings()] { return settings.get()->direct_calls; };
  o.tell_log = process::tell_log_place;
  o.stderr_of = [&servers](const std::string& server) { return servers.stderr_of(server); };
  o.look_at_files = [&reload](auto then) { reload.look(std::move(then)); };
  o.tell_start = [&world](json::json_writer& out, const std::vector<std::string>& changed) {
    world.tell(out, changed);
  };
  return o;
}

}  // namespace

result<open_sockets> open_sockets_at(base_parts& base, const std::string& path, const std::optional<http_port>& port) {
  open_sockets sockets;
  const auto open_port = [&]() -> result<void> {
    if (!port) return {};
    auto opened = mcp::socket::loopback_listener::open(base.executor(), base.time, port->address);
    if (!opened) return std::unexpected(std::move(opened.error()));
    sockets.port = std::move(*opened);
    return {};
  };
  // A port that is taken ends the start before the socket answers, so that no caller is dropped. A passed socket is
  // left then to refuse_passed_callers().
  if (process::is_socket_passed())
    if (auto good = open_port(); !good) return std::unexpected(good.error());
  const auto passed = process::take_passed_socket();
  auto local = passed ? mcp::socket::unix_listener::adopt(base.executor(), base.time, *passed)
                      : mcp::socket::unix_listener::open(base.executor(), base.time, path, open_port);
  if (!local) return std::unexpected(std::move(local.error()));
  sockets.local = std::move(*local);
  return sockets;
}

entrances::entrances(base_parts& base, blocking_lanes& lanes, tool_servers& servers, run_parts& runs,
                     started_world& world, reloading& reload, open_sockets& sockets,
                     const conf::model::configuration& config, const std::string& socket)
    : sockets_(sockets),
      port_callers_(
          base.executor(), lanes.compute, base.time, [&servers](pid_t pid) { return servers.owner_of(pid); },
          [&servers](pid_t pid) { return servers.is_not_known_yet(pid); }),
      backend_(
          servers.supervisor(), runs.runs(), runs.store(), servers.pins(), servers.logins(), runs.lists(),
          [&runs](front::backend::left_taken then) { runs.left().when_taken(std::move(then)); },
          [&reload](front::reload_answer then) { reload.ask("asked to by a caller", std::move(then)); },
          [&reload](front::config_answer then) { reload.tell(std::move(then)); },
          [&base] { base.stop.express("asked to by a caller"); }),
      door_(base.executor(), base.time, backend_, door_options_with(runs, world, config, socket, servers, reload),
            [&servers](const mcp::socket::peer_credentials& p) { return servers.admit(p); }),
      early_(
          base.time, [&servers](pid_t pid) { return servers.is_not_known_yet(pid); },
          [this](int fd, const mcp::socket::peer_credentials& peer) { door_.accept(fd, peer); }) {}

void entrances::open() {
  sockets_.local->start([this](int fd, mcp::socket::peer_credentials peer) { early_.came(fd, std::move(peer)); });
}

void entrances::open_port(const http_port& port) {
  const auto& address = sockets_.port->address();
  if (port.rules.token.empty())
    log::warn("HTTP is served at http://" + address +
              " without a token (http.auth is \"none\"): every program of this machine may ask there");
  else
    log::info("HTTP is served at http://" + address + ", with the token in " + port.token_file);
  door_.serves_port(address, port.rules, port.token_file,
                    [this](const mcp::socket::tcp_ends& ends, callers::port_callers::answer then) {
                      port_callers_.ask(ends, std::move(then));
                    });
  sockets_.port->start([this](int fd, const std::string& from) { door_.accept_on_port(fd, from); });
}

void entrances::begin_closing() {
  sockets_.local->close();
  early_.close();
  if (sockets_.port) sockets_.port->close();
  door_.refuse_calls();
}

}  // namespace mcpbx::daemon::app

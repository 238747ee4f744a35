// Construction of the daemon. Each group of parts is a local variable that receives the groups it uses, so that no part
// is used before it exists. Destruction runs in reverse order.
#include "daemon/app/daemon.hpp"

#include "conf/config_files.hpp"
#include "conf/places.hpp"
#include "daemon/app/base_parts.hpp"
#include "daemon/app/callers/running_link.hpp"
#include "daemon/app/configuration.hpp"
#include "daemon/app/daemon_life.hpp"
#include "daemon/app/entrances.hpp"
#include "daemon/app/http_port.hpp"
#include "daemon/app/options/process_settings.hpp"
#include "daemon/app/process/process_limits.hpp"
#include "daemon/app/process/service.hpp"
#include "daemon/app/references/current_configuration.hpp"
#include "daemon/app/reloading.hpp"
#include "daemon/app/run_parts.hpp"
#include "daemon/app/started_world.hpp"
#include "daemon/app/tool_servers.hpp"
#include "mcp/process/core_files.hpp"
#include "mcp/socket/private_folder.hpp"
#include "mcp/support/heap.hpp"
#include "mcp/support/log.hpp"

#include <signal.h>
#include <unistd.h>

#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace mcpbx::daemon::app {
namespace {

constexpr unsigned lanes_grace_s = 2;  // extra time for work that is still running on the lanes at the end

// Builds the parts, reports "ready", and runs until the daemon has stopped. Returns an error if the socket is taken.
result<int> serve(const process::command_line& o, const references::configuration_ptr& first, started_world& world,
                  std::vector<conf::read_source> read, mcp::keepers::keeper_handle keeper, const std::string& socket,
                  const std::optional<http_port>& port, callers::running_link& link) {
  const auto& config = first->config;
  const auto idle_exit = options::idle_exit_of(o, config, port.has_value());
  references::current_configuration current(first);
  base_parts base(o, config);
  auto sockets = open_sockets_at(base, socket, port);
  if (!sockets) return std::unexpected(std::move(sockets.error()));
  blocking_lanes lanes(base);
  http::clients::client client(base.executor(), base.time, lanes.compute, http_options());
  tool_servers servers(base, lanes, client, config, keeper);
  run_parts runs(base, lanes, client, current, servers.tools(), o.private_folder.empty());
  reloading reload(base, o, current, world, std::move(read));
  entrances ways_in(base, lanes, servers, runs, world, reload, *sockets, config, socket);

  if (port) ways_in.open_port(*port);
  for (const auto& n : config.notices) log::warn(n.text());
  ways_in.open();
  // Releases memory that only the start needed, once the first tools are listed and once the journal is open.
  servers.when_listed(forget_program_pages);
  servers.apply(config);
  runs.left().ask(forget_program_pages);
  reload.carried_out_by([&servers, &ways_in](const references::configuration_ptr& next) {
    servers.apply(next->config);
    ways_in.door().configuration_replaced();
  });
  daemon_life life(base, servers, runs, reload, ways_in, idle_exit);

  link.show();
  process::say("ready " + socket + "\n", log::level::info);
  process::notify_service_manager("READY=1");
  const int status = life.run();
  process::end_at_the_latest(lanes_grace_s);
  return status;
}

}  // namespace

int run_daemon(const process::command_line& o, mcp::keepers::keeper_handle keeper) {
  process::raise_descriptor_limit();
  mcp::process::forbid_core_files();
  // Turns a write beyond `ulimit -f` into an error of that write, as on a full disk, instead of ending the daemon.
  ::signal(SIGXFSZ, SIG_IGN);
  auto loaded = load_configuration(o);
  if (!loaded.ok()) {
    process::say(loaded.error_text());
    process::refuse_passed_callers(loaded.error_text());
    return exit_configuration;
  }
  const auto cannot_start = [](const error& why, int status) {
    process::say("mcpbxd: " + why.message + "\n");
    process::refuse_passed_callers(why.message);
    return status;
  };
  auto socket = conf::socket_path(conf::environment_for_places(), o.socket);
  if (!socket) return cannot_start(socket.error(), exit_configuration);
  // May block: nothing listens yet, so no caller waits.
  const auto first = std::make_shared<const references::configuration_snapshot>(std::move(loaded.config));
  // A private daemon, which serves one command only, leaves the port to the usual daemon.
  auto port = o.private_folder.empty()
                  ? http_port_of(first->config, first->values, conf::environment_for_places(), o.http)
                  : result<std::optional<http_port>>();
  if (!port) return cannot_start(port.error(), exit_configuration);
  // Removes the private folder here as well, because the command that created it may have been killed.
  const std::shared_ptr<void> folder(nullptr, [&o](void*) {
    if (!o.private_folder.empty()) mcp::socket::remove_private_folder(o.private_folder);
  });
  const std::shared_ptr<void> over(nullptr,
                                   [](void*) { ::alarm(0); });  // cancels the alarm after all parts are destroyed
  auto link = o.private_folder.empty() && conf::default_socket(conf::environment_for_places(), o.socket)
                  ? callers::running_link::take(conf::environment_for_places(), socket->string())
                  : result<callers::running_link>();
  if (!link) return cannot_start(link.error(), 1);
  started_world world(conf::environment_for_places(), files_of(o), first->config, loaded.read,
                      options::idle_exit_of(o, first->config, port->has_value()).count() > 0);
  const auto status = serve(o, first, world, std::move(loaded.read), keeper, socket->string(), *port, *link);
  return status ? *status : cannot_start(status.error(), 1);
}

}  // namespace mcpbx::daemon::app

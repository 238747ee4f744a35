// `mcpbx service`: runs the daemon as a service of systemd, for people who need not know systemd.
#include "daemon/cli/base/daemon_calls.hpp"
#include "daemon/cli/base/verb.hpp"
#include "daemon/cli/link/daemon_age.hpp"
#include "daemon/cli/service/user_service.hpp"
#include "daemon/cli/terminal/terminal.hpp"
#include "mcp/json/json_writer.hpp"
#include "mcp/support/text.hpp"

#include <CLI/CLI.hpp>

#include <algorithm>
#include <array>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

namespace mcpbx::cli::verbs {
namespace {

constexpr std::array<std::string_view, 3> service_actions{"enable", "disable", "status"};

// `runs`: the service ran before, so it goes on with what it was started with.
int tell_service(context& c, std::string_view action, bool runs, const result<std::vector<std::string>>& files) {
  if (!files) {
    c.screen->error(files.error().message);
    return files.error().code == errc::config ? terminals::usage : terminals::no_answer;
  }
  const bool on = action == "enable";
  if (c.json) {
    std::string json;
    json::json_writer out(json);
    out.begin_object().member("enabled", on).key(on ? "written" : "removed").begin_array();
    for (const auto& f : *files) out.value(f);
    out.end_array().end_object();
    c.screen->out_json(json);
    return terminals::done;
  }
  for (const auto& f : *files) c.screen->out_line((on ? "wrote   " : "removed ") + f);
  c.screen->out_line(on ? "systemd listens for mcpbx now and starts the daemon at the first connection."
                        : "systemd does not listen for mcpbx any more; commands start the daemon when it is needed.");
  if (on && runs && !files->empty())
    c.screen->out_line(
        "The daemon that runs keeps the PATH it was started with; `mcpbx stop` lets the next connection "
        "start it anew.");
  return terminals::done;
}

// Ends a daemon that no service runs: it holds the socket. Returns false, with the reason told, if it is in use.
bool free_the_socket(context& c) {
  const auto where = link::choose_socket({});
  const auto fd = where ? link::connect_to(*where) : std::unexpected(where.error());
  if (!fd) return true;
  link::daemon_connection link(*fd);
  const auto hello = link.call("mcpbx/hello", "{}");
  if (!hello || hello->error) return true;
  const link::daemon_end end(link, hello->result);
  const auto stopped = link.call("mcpbx/stop", R"({"ifIdle":true})");
  if (stopped && !stopped->error && end.wait()) return true;
  c.screen->error(
      "a daemon that a command started is in use; write `mcpbx stop`, and then `mcpbx service enable` again");
  return false;
}

int show_service(context& c, const service::service_state& s, const std::string& socket) {
  const bool ready = s.socket == "active";
  if (c.json) {
    std::string json;
    json::json_writer out(json);
    out.begin_object().member("systemd", s.manager).member("enabled", s.socket_enabled == "enabled");
    out.member("listening", ready).member("socket", s.socket).member("service", s.service);
    if (!s.pid.empty()) out.key("pid").token(s.pid);
    if (!s.file.empty()) out.member("unit", s.file);
    out.end_object();
    c.screen->out_json(json);
    return ready ? terminals::done : terminals::no_answer;
  }
  if (!s.manager) {
    c.screen->out_line(
        "there is no systemd that runs services for you here; commands start the daemon when it is needed");
    return terminals::no_answer;
  }
  c.screen->out(terminals::table(
      {{"at login", s.socket_enabled == "enabled" ? "systemd listens" : "nothing; `mcpbx service enable` changes it"},
       {"now", ready                  ? "systemd listens at " + socket
               : s.socket == "failed" ? "systemd gave up listening; `mcpbx service enable` lets it listen again"
                                      : "nobody listens for systemd"},
       {"daemon", s.service == "active"   ? "runs, process " + s.pid
                  : s.service == "failed" ? "failed; `journalctl --user -u mcpbx.service` tells why"
                                          : "starts at the first connection"},
       {"unit", s.file.empty() ? "none" : s.file}}));
  return ready ? terminals::done : terminals::no_answer;
}

int service(context& c, const std::string& action) {
  if (std::ranges::find(service_actions, action) == service_actions.end()) {
    c.screen->error("`service` knows no `" + action + "`" + did_you_mean(action, service_actions) +
                    "; see `mcpbx service --help`");
    return terminals::usage;
  }
  const auto where = link::choose_socket({});
  const auto env = conf::environment::of_process();
  const service::user_service units(env, service::real_systemctl(), service::daemon_program());
  const auto before = units.state();
  if (action == "status") return show_service(c, before, where ? where->path : "");
  if (action == "disable") return tell_service(c, action, false, units.disable());
  if (before.manager && before.socket != "active" && !free_the_socket(c)) return terminals::no_answer;
  return tell_service(c, action, before.service == "active", units.enable());
}

verb_action declare_service(CLI::App& page) {
  const auto action = std::make_shared<std::string>("status");
  page.add_option("ACTION", *action, "enable, disable or status (also without a word)")->type_name("");
  return [action](context& c) { return service(c, *action); };
}

}  // namespace

verb verb_service() {
  return {
      .name = "service",
      .place = 91,
      .summary = "run the daemon as a service of systemd",
      .more =
          R"(mcpbx needs no service: a command starts the daemon when it is needed. A service is for programs that connect by themselves,
and for the port of HTTP.

  enable    systemd listens at the socket, now and from each login on, and starts the daemon at the first connection. The
            daemon gets the PATH of this shell; call it again when PATH has changed
  disable   ends that, and the daemon; removes the files that enable wrote
  status    how it is; status 1 if systemd does not listen

Files are written below ~/.config/systemd/user only. `loginctl enable-linger` keeps services running without a login.

Examples:
  mcpbx service enable
  mcpbx service status
  journalctl --user -u mcpbx.service     the log)",
      .declare = declare_service,
      .actions = service_actions};
}

}  // namespace mcpbx::cli::verbs

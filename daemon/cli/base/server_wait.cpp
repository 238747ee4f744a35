// Asks the daemon for the states of its servers until none starts any more.
#include "daemon/cli/base/server_wait.hpp"

#include "daemon/cli/link/daemon_age.hpp"
#include "daemon/cli/terminal/fitted_table.hpp"
#include "daemon/cli/text/status_text.hpp"

#include <poll.h>

#include <chrono>
#include <cstdint>

namespace mcpbx::cli {
namespace {

using steady = std::chrono::steady_clock;
constexpr std::chrono::seconds longest_wait{15};
constexpr std::chrono::milliseconds said_after{300};  // most servers need less; then there is nothing to say
constexpr int poll_ms = 30;
constexpr std::int64_t just_ms = 10'000;  // the age up to which a daemon of systemd is taken for a new one

// Returns the names of servers that are starting, or "" if the daemon does not answer: the verb's own request tells
// why.
std::string starting(link::daemon_connection& link) {
  const auto got = link.call("mcpbx/servers", "{}");
  return got && got->result ? unready_in(got->result).starting : "";
}

// Returns true if systemd has started the daemon a moment ago, for this connection or for one before it.
bool is_just_activated(link::daemon_connection& link) {
  if (!link::is_socket_of_systemd(link)) return false;
  const auto status = link.call("mcpbx/status", "{}");
  return status && !status->error &&
         json::find_member(status->result, "uptimeMs").as_integer().value_or(just_ms) < just_ms;
}

}  // namespace

unready_servers unready_in(const json::raw_json& servers) {
  unready_servers r;
  json::for_each_element(servers, [&](const json::raw_json& server) {
    const std::string state = json::member_text(server, "state"), name = json::member_text(server, "name");
    if (state == "ready" || state == "lazy" || state == "disabled") return true;
    std::string line = "  " + name + ": " + state;
    if (const std::string why = text::trouble_of(server); !why.empty()) line += ": " + why;
    const bool hopeless =
        state == "crash_loop" || state == "failed" || json::find_member(server, "startFailed").is_true();
    (hopeless ? r.hopeless : r.waiting) += line + "\n";
    if (!hopeless && (state == "starting" || state == "restarting"))
      r.starting += (r.starting.empty() ? "" : ", ") + name;
    return true;
  });
  return r;
}

void wait_for_servers(context& c, link::connected& made, const std::function<bool()>& enough) {
  if (c.no_wait || !(made.started || is_just_activated(made.link))) return;
  const auto begun = steady::now();
  bool said = false;
  for (;;) {
    const auto names = starting(made.link);
    if (names.empty() || link::interrupted() || (enough && enough())) break;
    const auto waited = steady::now() - begun;
    if (waited >= longest_wait) {
      c.screen->clear_status();
      c.screen->err_line("mcpbx: after " + std::to_string(longest_wait.count()) + " s still starting: " + names);
      return;
    }
    if (!said && waited >= said_after) {
      c.screen->status("mcpbx: waiting for tool servers to start: " + names + " (at most " +
                       std::to_string(longest_wait.count()) + " s; --no-wait does not wait)");
      said = true;
    }
    ::poll(nullptr, 0, poll_ms);
  }
  c.screen->clear_status();
}

void report_starting(context& c, link::daemon_connection& link) {
  if (const auto names = starting(link); !names.empty())
    for (const auto& line : terminals::wrapped(
             "mcpbx: still starting, their tools are missing: " + names + "; `mcpbx wait` waits for them",
             c.screen->err_width()))
      c.screen->err_line(line);
}

}  // namespace mcpbx::cli

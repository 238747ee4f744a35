// `mcpbx wait`: waits until tool servers are ready.
#include "daemon/cli/base/daemon_calls.hpp"
#include "daemon/cli/base/server_wait.hpp"
#include "daemon/cli/base/verb.hpp"
#include "daemon/cli/input/option_checks.hpp"
#include "mcp/redact/hidden_text.hpp"
#include "mcp/socket/unix_socket.hpp"

#include <CLI/CLI.hpp>

#include <poll.h>

#include <chrono>
#include <memory>
#include <optional>
#include <string>
#include <utility>

namespace mcpbx::cli::verbs {
namespace {

using steady = std::chrono::steady_clock;

int not_all_ready(context& c, const json::raw_json& list, const unready_servers& servers) {
  const std::string why = "not every tool server can be used:\n" + servers.hopeless + servers.waiting;
  // With --json the list has told it.
  if (c.json) c.screen->out_json(list.text());
  c.json ? c.screen->err_line("mcpbx: " + redact::printable(why, true)) : c.screen->error(why);
  return terminals::no_answer;
}

int wait(context& c, int timeout_s) {
  const auto deadline = steady::now() + std::chrono::seconds(timeout_s);
  auto where = link::choose_socket(c.place);
  if (!where) return explain(c, where.error());
  std::optional<link::connected> made;
  if (where->is_default || c.place.standalone) {
    int status = 0;
    auto begun = connect_or_explain(c, true, status);
    if (!begun) return status;
    made.emplace(std::move(*begun));
  }
  std::string still;
  bool answered = false;
  for (;;) {
    // Nobody can start a daemon at a socket of the user's own, and any daemon may be restarted meanwhile.
    if (!made)
      if (auto fd = link::connect_to(*where)) made.emplace(link::connected{link::daemon_connection(*fd), {}});
    const auto got = made ? made->link.call("mcpbx/servers", "{}") : fail(errc::unavailable, "");
    if (!got) made.reset();
    if (got && got->result) {
      answered = true;
      const unready_servers servers = unready_in(got->result);
      if (servers.none() && c.json) c.screen->out_json(got->result.text());
      if (servers.none()) return terminals::done;
      // A server whose start failed is tried again forever, so report it once no other one can become ready.
      if (servers.waiting.empty()) return not_all_ready(c, got->result, servers);
      still = servers.hopeless + servers.waiting;
    }
    if (steady::now() >= deadline) break;
    ::poll(nullptr, 0, 20);
  }
  if (answered) {
    c.screen->error("not ready within " + std::to_string(timeout_s) + " s:\n" + still);
    return terminals::no_answer;
  }
  c.screen->error("no daemon answered at " + where->path + " within " + std::to_string(timeout_s) + " s");
  return terminals::no_daemon;
}

verb_action declare_wait(CLI::App& page) {
  const auto timeout_s = std::make_shared<int>(60);
  page.add_option("--timeout", *timeout_s, "how many seconds at most (60)")
      ->type_name("S")
      ->check(input::whole_number(0, 86400));
  return [timeout_s](context& c) { return wait(c, *timeout_s); };
}

}  // namespace

verb verb_wait() {
  return {
      .name = "wait",
      .place = 10,
      .summary = "wait until every enabled tool server is ready",
      .more =
          R"(Starts the daemon if none runs; keeps trying a socket that --socket or $MCPBX_SOCKET names. The status is 0 when every
enabled server is ready (lazy ones count as ready), 1 when one took too long, or cannot start or is in a crash loop and no
other one is still starting (named on standard error), 3 only if the socket never answered.

Example:
  mcpbx wait --timeout 30)",
      .declare = declare_wait};
}

}  // namespace mcpbx::cli::verbs

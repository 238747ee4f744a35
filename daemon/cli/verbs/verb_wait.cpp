// `mcpbx wait`: waits until tool servers are ready.
#include "daemon/cli/base/daemon_calls.hpp"
#include "daemon/cli/base/option_checks.hpp"
#include "daemon/cli/base/server_wait.hpp"
#include "daemon/cli/base/verb.hpp"
#include "mcp/redact/hidden_text.hpp"
#include "mcp/socket/unix_socket.hpp"

#include <CLI/CLI.hpp>

#include <poll.h>

#include <chrono>
#include <memory>
#include <string>

namespace mcpbx::cli {
namespace {

using steady = std::chrono::steady_clock;

int wait(context& c, int timeout_s) {
  const auto deadline = steady::now() + std::chrono::seconds(timeout_s);
  auto where = choose_socket(c.place);
  if (!where) return explain(c, where.error());
  const std::string path = where->path;
  std::string still;
  bool answered = false;
  for (;;) {
    // Connect anew each time, because the daemon may be restarted meanwhile.
    if (auto fd = connect_to(*where)) {
      daemon_connection link(*fd);
      auto got = link.call("mcpbx/servers", "{}");
      if (got && got->result) {
        answered = true;
        const raw_json list = got->result;
        const unready_servers r = unready_in(list);
        if (r.none() || !r.hopeless.empty()) {
          if (c.json) c.screen->out_json(list.text());
          if (r.none()) return done;
          // With --json the list has told it.
          const std::string why = "not every tool server can be used:\n" + r.hopeless + r.waiting;
          c.json ? c.screen->err_line("mcpbx: " + printable(why, true)) : c.screen->error(why);
          return no_answer;
        }
        still = r.waiting;
      }
    }
    if (steady::now() >= deadline) break;
    ::poll(nullptr, 0, 20);
  }
  if (answered) {
    c.screen->error("not ready within " + std::to_string(timeout_s) + " s:\n" + still);
    return no_answer;
  }
  c.screen->error("no daemon answered at " + path + " within " + std::to_string(timeout_s) + " s");
  return no_daemon;
}

verb_action declare_wait(CLI::App& page) {
  const auto timeout_s = std::make_shared<int>(60);
  page.add_option("--timeout", *timeout_s, "how many seconds at most (60)")
      ->type_name("S")
      ->check(whole_number(0, 86400));
  return [timeout_s](context& c) { return wait(c, *timeout_s); };
}

}  // namespace

verb verb_wait() {
  return {
      .name = "wait",
      .summary = "wait until every enabled tool server is ready",
      .more =
          R"(Keeps trying the socket. The status is 0 when every enabled server is ready (lazy ones count as ready), 1 when one cannot
start, is in a crash loop or took too long (named on standard error), 3 only if the socket never answered.)",
      .declare = declare_wait};
}

}  // namespace mcpbx::cli

// `mcpbx stop`: ends the daemon and waits for its end.
#include "daemon/cli/base/daemon_calls.hpp"
#include "daemon/cli/base/verb.hpp"
#include "daemon/cli/link/daemon_age.hpp"

namespace mcpbx::cli::verbs {
namespace {

int stop(context& c) {
  int code = 0;
  auto made = connect_or_explain(c, false, code, {.of_age = false});
  if (!made) return code;
  auto hello = call_or_explain(c, made->link, "mcpbx/hello", "{}", code);
  if (!hello) return code;
  const link::daemon_end end(made->link, *hello);
  auto got = call_or_explain(c, made->link, "mcpbx/stop", "{}", code);
  if (!got) return code;
  if (c.json) c.screen->out_json(got->text());
  if (end.wait()) return terminals::done;
  c.screen->error("the daemon is still stopping; `mcpbx status` tells when it has ended");
  return terminals::no_answer;
}

}  // namespace

verb verb_stop() {
  return {
      .name = "stop",
      .place = 13,
      .summary = "stop the daemon and every tool server",
      .more =
          R"(Running work has 3 s to end, then tool servers are told to end and, where they do not, ended. Returns when all is gone.
Detached runs, and those that wait for their caller's own tools, go on at the next start.

Example:
  mcpbx stop)",
      .declare = [](CLI::App&) -> verb_action { return stop; }};
}

}  // namespace mcpbx::cli::verbs

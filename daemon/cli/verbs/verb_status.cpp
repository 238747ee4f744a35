// `mcpbx status`: shows the state of the daemon.
#include "daemon/cli/base/daemon_calls.hpp"
#include "daemon/cli/base/verb.hpp"
#include "daemon/cli/text/status_text.hpp"

namespace mcpbx::cli::verbs {
namespace {

int status(context& c) {
  int code = 0;
  auto made = connect_or_explain(c, false, code);
  if (!made) return code;
  auto got = call_or_explain(c, made->link, "mcpbx/status", "{}", code);
  if (!got) return code;
  if (c.json) {
    c.screen->out_json(got->text());
    return terminals::done;
  }
  if (c.screen->out_is_terminal())
    terminals::show(*c.screen, text::status_facts(*got));
  else
    c.screen->out(terminals::table(text::status_rows(*got)));
  return terminals::done;
}

}  // namespace

verb verb_status() {
  return {.name = "status",
          .place = 9,
          .summary = "how the daemon is",
          .more =
              "At a terminal numbers have units, and those that are zero are left out; elsewhere there is a "
              "line for each\nmember of --json.\n\nExample:\n  mcpbx status",
          .declare = [](CLI::App&) -> verb_action { return status; }};
}

}  // namespace mcpbx::cli::verbs

// `mcpbx reload`: has the daemon read its configuration again.
#include "daemon/cli/base/daemon_calls.hpp"
#include "daemon/cli/base/verb.hpp"
#include "daemon/cli/link/text_lists.hpp"

#include <CLI/CLI.hpp>

namespace mcpbx::cli::verbs {
namespace {

int reload(context& c) {
  int code = 0;
  auto made = connect_or_explain(c, false, code, {.of_age = false});
  if (!made) return code;
  auto got = call_or_explain(c, made->link, "mcpbx/reload", "{}", code);
  if (!got) return code;
  if (c.json) {
    c.screen->out_json(got->text());
    return terminals::done;
  }
  for (const auto& notice : link::texts_of(*got, "notices")) c.screen->err_line(notice);
  const auto files = link::texts_of(*got, "files"), waiting = link::texts_of(*got, "fromNextStart");
  c.screen->out_line(files.empty() ? "in force: the defaults, since there is no configuration file"
                                   : "in force: " + link::listed(files));
  if (!waiting.empty())
    c.screen->out_line("from the daemon's next start: " + link::listed(waiting) + " (`mcpbx stop` ends this one)");
  return terminals::done;
}

}  // namespace

verb verb_reload() {
  return {
      .name = "reload",
      .place = 12,
      .summary = "have the daemon read its configuration again",
      .more =
          R"(A wrong file changes nothing, and its errors are printed. Tool servers whose entries are the same keep running, and
runs end with what they began with. SIGHUP does the same.

Example:
  mcpbx reload)",
      .declare = [](CLI::App&) -> verb_action { return reload; }};
}

}  // namespace mcpbx::cli::verbs

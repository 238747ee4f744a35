// `mcpbx attach`: follows a run that exists.
#include "daemon/cli/base/daemon_calls.hpp"
#include "daemon/cli/base/follow_run.hpp"
#include "daemon/cli/base/verb.hpp"
#include "daemon/cli/input/option_checks.hpp"
#include "daemon/cli/terminal/helping_command.hpp"
#include "mcp/json/json_writer.hpp"

#include <CLI/CLI.hpp>

#include <algorithm>
#include <cstdint>
#include <memory>
#include <string>

namespace mcpbx::cli::verbs {
namespace {

struct attach_options {
  std::string run;
  std::int64_t after = 0;  ///< number of the last known event; later ones are shown
};

int attach(context& c, const std::string& run, std::int64_t after) {
  c.screen->helped_by(std::string(terminals::runs_are_in));
  int status = 0;
  auto made = connect_or_explain(c, true, status);
  if (!made) return status;
  std::string params;
  json::json_writer w(params);
  w.begin_object().member("run", run);
  if (after > 0) w.member("after", after);
  w.set("answers", asks_person(c));
  w.end_object();
  const auto end =
      follow_run(c, made->link, "mcpbx/attach", params, {.input = chosen_input(c, "").value_or(std::nullopt)});
  if (end.left) {
    const auto word = run_operand(run);
    const auto seen = std::max(after, static_cast<std::int64_t>(end.seq));
    c.screen->err_line("mcpbx: a detached run goes on; `mcpbx attach " +
                       (seen > 0 ? "--after " + std::to_string(seen) + " " : std::string()) + word +
                       "` follows it again, `mcpbx cancel " + word + "` ends it");
  }
  return end.status;
}

verb_action declare_attach(CLI::App& page) {
  const auto o = std::make_shared<attach_options>();
  page.add_option("RUN", o->run, "the run's name")->required()->type_name("");
  page.add_option("--after", o->after, "only what came behind this event (its `seq`)")
      ->type_name("N")
      ->check(input::whole_number(0));
  return [o](context& c) { return attach(c, o->run, o->after); };
}

}  // namespace

verb verb_attach() {
  return {
      .name = "attach",
      .place = 2,
      .summary = "follow a run that goes on, or that has ended",
      .more =
          R"(Shows a run as `ask` does, from its beginning or, with --after, from behind an event; what is no more kept is told in short.
At a terminal its questions are asked. The exit status is that of the run. Ctrl-C leaves it: a detached run goes on, another
one if somebody else follows it.

Examples:
  mcpbx attach nightly
  mcpbx --json attach nightly --after 120)",
      .declare = declare_attach};
}

}  // namespace mcpbx::cli::verbs

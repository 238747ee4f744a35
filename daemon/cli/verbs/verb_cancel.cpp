// `mcpbx cancel`: ends a run for all who follow it.
#include "daemon/cli/base/daemon_calls.hpp"
#include "daemon/cli/base/verb.hpp"
#include "daemon/cli/terminal/helping_command.hpp"
#include "mcp/json/json_writer.hpp"

#include <CLI/CLI.hpp>

#include <memory>
#include <string>

namespace mcpbx::cli::verbs {
namespace {

int cancel(context& c, const std::string& run) {
  c.screen->helped_by(std::string(terminals::runs_are_in));
  int status = 0;
  auto made = connect_or_explain(c, true, status);
  if (!made) return status;
  const auto got = call_or_explain(c, made->link, "mcpbx/cancel", json::json_object("run", run), status);
  if (!got) return status;
  if (c.json) c.screen->out_json(got->text());
  return terminals::done;
}

verb_action declare_cancel(CLI::App& page) {
  const auto run = std::make_shared<std::string>();
  page.add_option("RUN", *run, "the run's name")->required()->type_name("");
  return [run](context& c) { return cancel(c, *run); };
}

}  // namespace

verb verb_cancel() {
  return {.name = "cancel",
          .place = 3,
          .summary = "end a run",
          .more = "Example:\n  mcpbx cancel nightly",
          .declare = declare_cancel};
}

}  // namespace mcpbx::cli::verbs

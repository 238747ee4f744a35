// `mcpbx disable`: switches a tool server off without touching the user's own file.
#include "daemon/cli/base/verb.hpp"
#include "daemon/cli/config/entry_switch.hpp"

#include <CLI/CLI.hpp>

#include <memory>
#include <string>

namespace mcpbx::cli::verbs {
namespace {

verb_action declare_disable(CLI::App& page) {
  const auto o = std::make_shared<config::switch_options>();
  page.add_option("NAME", o->name, "the name of the server")->required()->type_name("");
  config::add_write_options(page, o->wish, false);
  return [o](context& c) { return config::switch_entry(c, *o, true); };
}

}  // namespace

verb verb_disable() {
  return {
      .name = "disable",
      .place = 20,
      .summary = "switch a tool server off, and keep its entry",
      .more =
          R"(Writes "disabled": true into config.d/NAME.json, which is merged over the entry; your own config.json is never rewritten. The change
is shown first, and mcpbx asks unless --yes is given. A running daemon follows at once.

Example:
  mcpbx disable github --yes)",
      .declare = declare_disable};
}

}  // namespace mcpbx::cli::verbs

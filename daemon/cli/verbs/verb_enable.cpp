// `mcpbx enable`: switches a tool server on without touching the user's own file.
#include "daemon/cli/base/verb.hpp"
#include "daemon/cli/config/entry_switch.hpp"

#include <CLI/CLI.hpp>

#include <memory>
#include <string>

namespace mcpbx::cli::verbs {
namespace {

verb_action declare_enable(CLI::App& page) {
  const auto o = std::make_shared<config::switch_options>();
  page.add_option("NAME", o->name, "the name of the server")->required()->type_name("");
  config::add_write_options(page, o->wish, false);
  return [o](context& c) { return config::switch_entry(c, *o, false); };
}

}  // namespace

verb verb_enable() {
  return {
      .name = "enable",
      .place = 20,
      .summary = "switch a tool server on again",
      .more =
          R"(Takes "disabled": true out of config.d/NAME.json, which is merged over the entry; your own config.json is never rewritten. 
Where that file says it itself, config.d/NAME.json says false. The change
is shown first, and mcpbx asks unless --yes is given. A running daemon follows at once.

Example:
  mcpbx enable github --yes)",
      .declare = declare_enable};
}

}  // namespace mcpbx::cli::verbs

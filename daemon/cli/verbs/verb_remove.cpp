// `mcpbx remove`: takes the entry of a tool server out of config.d.
#include "conf/edit/json_edit.hpp"
#include "conf/hosts/import/same_servers.hpp"
#include "conf/places.hpp"
#include "daemon/cli/base/daemon_calls.hpp"
#include "daemon/cli/base/verb.hpp"
#include "daemon/cli/config/config_write.hpp"
#include "daemon/cli/config/entry_changes.hpp"
#include "mcp/support/text.hpp"

#include <CLI/CLI.hpp>

#include <memory>
#include <string>
#include <string_view>
#include <vector>

namespace mcpbx::cli::verbs {
namespace {

struct remove_options {
  std::string name;
  config::write_wish wish;
};

/// Returns lines about the files in `secrets` that the text refers to: they stay, since their content is nowhere else.
std::vector<std::string> secrets_left(const std::string& entry) {
  std::vector<std::string> lines;
  constexpr std::string_view mark = "${file:";
  for (auto at = entry.find(mark); at != entry.npos; at = entry.find(mark, at + 1)) {
    const auto end = entry.find('}', at);
    const auto path = entry.substr(at + mark.size(), end - at - mark.size());
    if (end != entry.npos && path.find("/secrets/") != path.npos)
      lines.push_back("its secret stays in " + path + "; `rm` removes it");
  }
  return lines;
}

int remove(context& c, const remove_options& o) {
  const auto place = config::find_config_place(c, conf::environment_for_places());
  if (!place) return explain(c, place.error());
  auto changes = config::entry_removed(*place, o.name);
  if (!changes) return explain(c, changes.error());
  for (auto& change : *changes)
    if (place->file && change.after) change.after = conf::imports::without_marks_of(*change.after, o.name);
  std::vector<std::string> told;
  for (const auto& change : *changes)
    if (const auto entry = conf::edit::member_text(*change.before, {"mcpServers", o.name}, change.path.native());
        entry && *entry)
      for (auto& line : secrets_left(**entry)) told.push_back(std::move(line));
  return config::write_changes(c, *place, *changes, told, o.wish);
}

verb_action declare_remove(CLI::App& page) {
  const auto o = std::make_shared<remove_options>();
  page.add_option("NAME", o->name, "the name of the server")->required()->type_name("");
  config::add_write_options(page, o->wish, false);
  return [o](context& c) { return remove(c, *o); };
}

}  // namespace

verb verb_remove() {
  return {
      .name = "remove",
      .place = 20,
      .summary = "take a tool server out of the configuration",
      .more =
          R"(Removes config.d/NAME.json, after showing it and asking. An entry in your own config.json is not touched: `mcpbx edit`
opens that file, and `mcpbx disable NAME` switches the server off. Files in `secrets` stay.

Example:
  mcpbx remove github --yes)",
      .declare = declare_remove};
}

}  // namespace mcpbx::cli::verbs

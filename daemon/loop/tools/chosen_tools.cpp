// Names that are given away are settled before any is taken, so that two tools can change theirs.
#include "daemon/loop/tools/chosen_tools.hpp"

#include "mcp/client/catalog/tool_names.hpp"
#include "mcp/support/log.hpp"
#include "mcp/support/text.hpp"

#include <algorithm>
#include <map>
#include <set>
#include <string_view>
#include <utility>

namespace mcpbx::daemon {
namespace {

bool same_owner(const mcp::catalog_entry& a, const mcp::catalog_entry& b) {
  return !a.owner.owner_before(b.owner) && !b.owner.owner_before(a.owner);
}

// Copies share the bytes of what they were made from.
mcp::entry_ptr copy_of(const mcp::entry_ptr& e, const std::string& name, std::span<const mcp::entry_ptr> before) {
  const auto made = std::ranges::find_if(before, [&](const auto& b) {
    return b->name == name && b->listed == e->name && b->definition.text().data() == e->definition.text().data() &&
           same_owner(*b, *e);
  });
  return made != before.end() ? *made : mcp::renamed(*e, name);
}

bool offers(const tool_choice& choice, const mcp::catalog_entry& e) {
  const catalog_names names{e.name, e.rules.prefixed, e.rules.plain};
  return choice.offers(names) && (!choice.beside || choice.beside->offers(e.server, e.tool, names));
}

// The new names, by those of the catalog. A tool that does not get its own may stand in the way of another.
std::map<std::string_view, const std::string*> settled_names(const mcp::catalog& catalog, const tool_choice& choice) {
  std::map<std::string_view, const std::string*> names;
  if (choice.rename.empty()) return names;
  std::set<std::string_view> kept;
  for (const auto& e : catalog.entries()) {
    if (!offers(choice, *e)) continue;
    const auto to = choice.rename.find(e->name);
    if (to != choice.rename.end() && to->second != e->name)
      names.emplace(e->name, &to->second);
    else
      kept.insert(e->name);
  }
  const auto taken = [&](const auto& one) {
    return kept.contains(*one.second) || one.second->starts_with(mcp::reserved_prefix);
  };
  for (auto at = std::ranges::find_if(names, taken); at != names.end(); at = std::ranges::find_if(names, taken)) {
    log::warn("the profile's name " + json_quoted(*at->second) + " for the tool " + std::string(at->first) +
              " is taken; the tool keeps its name");
    kept.insert(at->first);
    names.erase(at);
  }
  return names;
}

}  // namespace

std::vector<mcp::entry_ptr> chosen_tools(const mcp::catalog& catalog, const tool_choice& choice,
                                         std::span<const mcp::entry_ptr> before) {
  const auto names = settled_names(catalog, choice);
  std::vector<mcp::entry_ptr> entries;
  for (const auto& e : catalog.entries()) {
    if (!offers(choice, *e)) continue;
    const auto to = names.find(e->name);
    auto shown = to == names.end() ? e : copy_of(e, *to->second, before);
    if (choice.asks_for(shown->name)) entries.push_back(std::move(shown));
  }
  return entries;
}

}  // namespace mcpbx::daemon

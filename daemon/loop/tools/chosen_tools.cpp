// Settles all renamings before it makes copies, so that two tools can exchange their names.
#include "daemon/loop/tools/chosen_tools.hpp"

#include "daemon/policy/past_names.hpp"
#include "daemon/policy/policy.hpp"
#include "mcp/client/catalog/tool_names.hpp"
#include "mcp/support/log.hpp"
#include "mcp/support/text.hpp"

#include <algorithm>
#include <map>
#include <set>
#include <string_view>
#include <utility>

namespace mcpbx::daemon::tools {
namespace {

bool same_owner(const mcp::catalogs::catalog_entry& a, const mcp::catalogs::catalog_entry& b) {
  return !a.owner.owner_before(b.owner) && !b.owner.owner_before(a.owner);
}

// Returns a renamed copy, from `before` if that has the same one. Copies share the bytes of the definition, so equal
// addresses mean equal definitions.
mcp::catalogs::entry_ptr copy_of(const mcp::catalogs::entry_ptr& e, const std::string& name,
                                 std::span<const mcp::catalogs::entry_ptr> before) {
  const auto made = std::ranges::find_if(before, [&](const auto& b) {
    return b->name == name && b->listed == e->name && b->definition.text().data() == e->definition.text().data() &&
           same_owner(*b, *e);
  });
  return made != before.end() ? *made : mcp::catalogs::renamed(*e, name);
}

// A tool that the servers' and the profile's rules allow, and the name by which the choice refers to it.
struct let_through {
  const mcp::catalogs::entry_ptr* entry;
  std::string_view known_as;
  bool certain;  // true: `known_as` is the name at the time of the choice, because the server is configured as then
};

std::vector<let_through> offered_by(const mcp::catalogs::catalog& catalog, const stored::tool_choice& choice,
                                    const policy::past_names& past) {
  std::vector<let_through> tools;
  for (const auto& e : catalog.entries()) {
    auto facts = policy::facts_of(*e);
    facts.then = past.find(e->server, e->tool);
    if (policy::decide_offer(choice, facts).denies()) continue;
    const auto* then = facts.then;
    tools.push_back({&e, then != nullptr ? std::string_view(then->name) : e->name, then == nullptr || then->unchanged});
  }
  return tools;
}

// Returns the new names by the catalog's names. Repeats the search, because a tool that keeps its name can take the
// name that another one was to get.
std::map<std::string_view, const std::string*> settled_names(std::span<const let_through> tools,
                                                             const stored::tool_choice& choice) {
  std::map<std::string_view, const std::string*> names;
  if (choice.rename.empty()) return names;
  std::set<std::string_view> kept;
  for (const auto& [entry, known_as, certain] : tools) {
    const std::string& name = (*entry)->name;
    const auto to = choice.rename.find(known_as);
    if (to != choice.rename.end() && to->second != name)
      names.emplace(name, &to->second);
    else
      kept.insert(name);
  }
  const auto taken = [&](const auto& one) {
    return kept.contains(*one.second) || one.second->starts_with(mcp::catalogs::reserved_prefix);
  };
  for (auto at = std::ranges::find_if(names, taken); at != names.end(); at = std::ranges::find_if(names, taken)) {
    log::warn("the profile's name " + json::json_quoted(*at->second) + " for the tool " + std::string(at->first) +
              " is taken; the tool keeps its name");
    kept.insert(at->first);
    names.erase(at);
  }
  return names;
}

}  // namespace

std::vector<mcp::catalogs::entry_ptr> chosen_tools(const mcp::catalogs::catalog& catalog,
                                                   const stored::tool_choice& choice,
                                                   std::span<const mcp::catalogs::entry_ptr> before) {
  policy::past_names past;
  if (choice.beside) past = policy::past_names(catalog, *choice.beside);
  const auto tools = offered_by(catalog, choice, past);
  const auto names = settled_names(tools, choice);
  std::vector<mcp::catalogs::entry_ptr> entries;
  for (const auto& [entry, known_as, certain] : tools) {
    const auto to = names.find((*entry)->name);
    // The request refers to a renamed tool by its new name, or by the old one if the new one was taken.
    const auto wanted = choice.rename.find(known_as);
    const bool has_it = to != names.end() || wanted == choice.rename.end() || wanted->second == (*entry)->name;
    const auto asks_for = [&](std::string_view shown) { return policy::decide_request(choice, shown).allows(); };
    if (wanted != choice.rename.end() && (has_it || !certain) && !asks_for(wanted->second)) continue;
    if ((wanted == choice.rename.end() || !has_it) && !asks_for(known_as)) continue;
    entries.push_back(to == names.end() ? *entry : copy_of(*entry, *to->second, before));
  }
  return entries;
}

bool may_choose(const stored::tool_choice& choice, std::string_view server) {
  const std::string start = std::string(server) + "__";
  // A glob may match a name that begins so if one of the two beginnings continues the other.
  const auto may_match = [&](std::string_view glob) {
    const auto plain = glob.substr(0, glob.find_first_of("*?"));
    return plain.size() < glob.size() ? std::string_view(start).starts_with(plain) || plain.starts_with(start)
                                      : glob.find("__") == std::string_view::npos || glob.starts_with(start);
  };
  const auto allowed = [&](const std::vector<std::string>& globs) {
    return globs.empty() || std::ranges::any_of(globs, may_match);
  };
  return allowed(choice.only) && allowed(choice.allow) &&
         std::ranges::none_of(choice.deny, [&](const auto& glob) { return glob == "*" || glob == start + "*"; });
}

}  // namespace mcpbx::daemon::tools

// A tool's name follows from its own one and its server's naming, unless other tools of the server, or other servers
// with plain names, want it too: then the name is known only where it was noted.
#include "daemon/policy/past_names.hpp"

#include "mcp/client/catalog/tool_names.hpp"
#include "mcp/support/text.hpp"

#include <algorithm>
#include <array>
#include <span>

namespace mcpbx::daemon::policy {
namespace {

struct prefixed_name {
  std::string name, other;  // other: what it is instead where tools are listed that clash with it; "": never
};

// Only the renames that are about its name matter to one tool.
prefixed_name name_alone(const stored::tool_naming& naming, const std::string& own) {
  std::map<std::string, std::string> rename;
  if (const auto to = naming.rename.find(own); to != naming.rename.end()) rename.insert(*to);
  const auto taken = std::ranges::find_if(naming.rename, [&](const auto& r) { return r.second == own; });
  if (taken != naming.rename.end()) rename.insert(*taken);
  const std::array<std::string_view, 1> alone{own};
  auto named = mcp::catalogs::prefixed_names(naming.prefix, alone, rename);
  return {std::move(named.names[0]), std::move(named.others[0])};
}

past_names::names names_under(const stored::tool_naming& naming, const mcp::catalogs::catalog_entry& now,
                              bool unchanged) {
  past_names::names n;
  auto alone = name_alone(naming, now.tool);
  const auto noted = naming.named.find(now.tool);
  n.unchanged = unchanged;
  if (unchanged) {
    n.name = now.name;
    n.prefixed = now.rules.prefixed;
  } else if (alone.other.empty()) {
    (naming.plain ? n.prefixed : n.name) = alone.name;
  }
  if (noted != naming.named.end()) n.name = noted->second;
  n.possible = {n.name, std::move(alone.name), std::move(alone.other)};
  if (naming.plain) n.possible.push_back(mcp::catalogs::plain_name(now.tool, naming.rename));
  return n;
}

bool same_but_noted(stored::server_terms a, stored::server_terms b) {
  a.naming.named.clear();
  b.naming.named.clear();
  return a == b;
}

// Prefixed names depend on their own server alone, plain ones on all that are plain.
bool is_unchanged(const stored::server_terms& then, const stored::kept_terms& kept) {
  if (!kept.servers_now) return false;
  const auto& now = *kept.servers_now;
  if (then.naming.plain) return std::ranges::equal(*kept.servers, now, same_but_noted);
  const auto found = std::ranges::find(now, then.server, &stored::server_terms::server);
  return found != now.end() && same_but_noted(then, *found);
}

// Guesses the usual names, prefixed and plain.
past_names::names guessed(const mcp::catalogs::catalog_entry& now) {
  past_names::names n{now.name, now.rules.prefixed, {}, true};
  const std::array<std::string, 1> server{now.server};
  auto alone = name_alone({mcp::catalogs::settle_prefixes(server)[0]}, now.tool);
  n.possible = {std::move(alone.name), std::move(alone.other), now.tool};
  return n;
}

}  // namespace

const stored::server_terms* terms_of(const terms_ptr& all, std::string_view server) {
  if (!all) return nullptr;
  const auto found = std::ranges::find(*all, server, &stored::server_terms::server);
  return found == all->end() ? nullptr : &*found;
}

terms_ptr with_names(const std::vector<stored::server_terms>& terms, const mcp::catalogs::catalog& now) {
  auto all = std::make_shared<std::vector<stored::server_terms>>(terms);
  std::map<std::string_view, stored::tool_naming*> by_server;
  for (auto& s : *all) by_server.emplace(s.server, &s.naming);
  const auto note = [&](const std::string& server, const std::string& own, const std::string& name,
                        const mcp::catalogs::rule_names& rules) {
    const auto naming = by_server.find(server);
    if (naming != by_server.end() && (naming->second->plain || !rules.other.empty()))
      naming->second->named.emplace(own, name);
  };
  for (const auto& e : now.entries()) note(e->server, e->tool, e->name, e->rules);
  for (const auto& [name, tool] : now.withheld()) note(tool.server, tool.tool, name, tool.rules);
  return all;
}

bool past_names::names::may_be(const std::string& glob) const {
  return std::ranges::any_of(possible, [&](const auto& name) { return !name.empty() && glob_match(glob, name); });
}

past_names::past_names(const mcp::catalogs::catalog& now, const stored::kept_terms& kept) {
  std::map<std::string_view, bool> unchanged;
  if (kept.servers)
    for (const auto& s : *kept.servers) unchanged.emplace(s.server, is_unchanged(s, kept));
  for (const auto& e : now.entries()) {
    const auto* terms = terms_of(kept.servers, e->server);
    names_.emplace(std::pair(e->server, e->tool), terms != nullptr && !terms->naming.prefix.empty()
                                                      ? names_under(terms->naming, *e, unchanged[e->server])
                                                      : guessed(*e));
  }
}

const past_names::names* past_names::find(const std::string& server, const std::string& own) const {
  const auto found = names_.find({server, own});
  return found == names_.end() ? nullptr : &found->second;
}

}  // namespace mcpbx::daemon::policy

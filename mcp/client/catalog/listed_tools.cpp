// Turns the lists of tools into their entries.
#include "mcp/client/catalog/listed_tools.hpp"

#include "mcp/client/catalog/entry_pages.hpp"
#include "mcp/protocol/eras.hpp"
#include "mcp/redact/hidden_text.hpp"
#include "mcp/support/keyed_hash.hpp"
#include "mcp/support/text.hpp"

#include <algorithm>
#include <utility>

namespace mcpbx::mcp::catalogs {
namespace {

std::uint64_t definition_hash(std::string_view server, const json::raw_json& definition) {
  // Join two hashes rather than texts, so that no text can be split in two ways.
  return stable_hash(definition.text()) * 31 + stable_hash(server);
}

/// Returns the reason for withholding a tool, or null if it is not withheld.
std::shared_ptr<const std::string> why_withheld(const withheld_ptr& withheld, const std::string& own) {
  if (!withheld) return nullptr;
  const auto found = withheld->find(own);
  return found == withheld->end() ? nullptr : found->second;
}

entry_ptr make_entry(const catalog_server& s, const protocol::feature_item& tool, const std::string& name,
                     const rule_names& rules) {
  auto e = std::make_shared<catalog_entry>();
  e->name = name;
  e->server = s.name;
  e->tool = tool.key;
  e->definition = tool.definition;
  e->exposed = definition_named(tool.definition, name, tool.key);
  e->legacy = protocol::legacy_definition(e->exposed);
  e->description = tool.description;
  e->annotations = {tool.read_only, tool.destructive, tool.idempotent, tool.open_world, tool.title};
  e->manner = s.calls.of(tool);
  e->owner = s.owner;
  e->hash = definition_hash(s.name, tool.definition);
  e->origin = s.origin;
  e->rules = rules;
  return e;
}

bool is_same_text(const std::shared_ptr<const std::string>& a, const std::shared_ptr<const std::string>& b) {
  return a == b || (a && b && *a == *b);
}

}  // namespace

void listed_tools::set_servers(std::vector<catalog_server> servers, std::vector<std::string> prefixes,
                               std::span<const std::size_t> before) {
  prefixes_ = std::move(prefixes);
  auto old = std::exchange(servers_, {});
  for (std::size_t i = 0; i < servers.size(); ++i) {
    catalog_server& s = servers[i];
    offered o = before[i] == no_server ? offered() : std::move(old[before[i]]);
    // Entries hold copies of these two, so entries with the old values cannot be reused.
    if (o.s.calls != s.calls || !is_same_text(o.s.origin, s.origin)) o.entries.clear();
    o.s = std::move(s);
    o.prefix = prefixes_[i];
    o.stale = true;
    servers_.push_back(std::move(o));
  }
}

void listed_tools::set(std::size_t index, protocol::feature_list tools, withheld_ptr withheld,
                       tool_names_ptr prefixed) {
  offered& o = servers_.at(index);
  o.tools = std::move(tools);
  o.withheld = std::move(withheld);
  o.prefixed = std::move(prefixed);
  o.stale = true;
}

void listed_tools::refilter(offered& o) {
  o.kept.clear();
  if (!o.tools) return;
  for (std::size_t i = 0; i < o.tools->size(); ++i)
    if (passes(o.s.tools.allow, o.s.tools.deny, (*o.tools)[i].key)) o.kept.push_back(i);
}

void listed_tools::make_entries(offered& o, const std::vector<std::string>& names) {
  text_view_map<const entry_ptr*> old;
  for (const entry_ptr& e : o.entries) old.emplace(e->tool, &e);
  std::vector<entry_ptr> entries;
  entries.reserve(o.kept.size());
  o.hidden.clear();
  o.unnamed.clear();
  static const rule_names no_others;
  for (std::size_t i = 0; i < o.kept.size(); ++i) {
    const protocol::feature_item& tool = (*o.tools)[o.kept[i]];
    const rule_names& rules = o.ruled.empty() ? no_others : o.ruled[i];
    if (names[i].empty()) {
      o.unnamed.push_back(tool.key);
      continue;
    }
    if (const auto why = why_withheld(o.withheld, tool.key)) {
      o.hidden.emplace(names[i], withheld_tool{o.s.name, tool.key, why, rules});
      continue;
    }
    const auto found = old.find(tool.key);
    const bool same = found != old.end() && (*found->second)->name == names[i] &&
                      (*found->second)->definition.text() == tool.definition.text() && (*found->second)->rules == rules;
    entries.push_back(same ? *found->second : make_entry(o.s, tool, names[i], rules));
  }
  if (!std::ranges::equal(entries, o.entries)) free_old_pages(entries);
  o.entries = std::move(entries);
}

// Names the tools of one server. Rules also find tools of a server with plain names by their prefixed name.
named_tools listed_tools::name_tools(offered& o, std::set<std::string, std::less<>>& taken) const {
  std::vector<std::string_view> own;
  own.reserve(o.kept.size());
  for (const std::size_t i : o.kept) own.push_back((*o.tools)[i].key);
  auto prefixed = prefixed_names(o.prefix, own, o.s.tools.rename);
  o.ruled.clear();
  if (!o.s.plain_names) {
    if (std::ranges::any_of(prefixed.others, [](const auto& name) { return !name.empty(); }))
      for (const auto& name : prefixed.others) o.ruled.push_back({{}, {}, name});
    return prefixed;
  }
  for (std::size_t i = 0; i < own.size(); ++i)
    o.ruled.push_back({prefixed.names[i], plain_name(own[i], o.s.tools.rename), prefixed.others[i]});
  return plain_names(own, o.s.tools.rename, prefixes_, prefixed, taken, o.prefixed.get());
}

void listed_tools::build() {
  // Plain names depend on the servers before them, so they are settled anew each time; the others only after their own
  // list has changed.
  std::set<std::string, std::less<>> taken;
  for (offered& o : servers_) {
    const bool stale = std::exchange(o.stale, false);
    if (stale) refilter(o);
    if (!stale && !o.s.plain_names) continue;
    named_tools named = name_tools(o, taken);
    make_entries(o, named.names);
    o.notices = std::move(named.notices);
  }
}

std::vector<entry_ptr> listed_tools::entries() const {
  std::vector<entry_ptr> all;
  for (const offered& o : servers_) all.insert(all.end(), o.entries.begin(), o.entries.end());
  return all;
}

withheld_tools listed_tools::withheld() const {
  withheld_tools all;
  for (const offered& o : servers_) all.insert(o.hidden.begin(), o.hidden.end());
  return all;
}

std::vector<std::string> listed_tools::left_out(std::size_t index) const {
  std::vector<std::string> all;
  for (const std::string& own : servers_.at(index).unnamed)
    all.push_back("tool \"" + redact::printable(own) +
                  "\" is left out: every name for it is taken; give it one with tools.rename");
  return all;
}

std::vector<std::string> listed_tools::take_notices(std::size_t index) {
  return std::exchange(servers_.at(index).notices, {});
}

}  // namespace mcpbx::mcp::catalogs

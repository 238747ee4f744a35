// From lists to snapshots.
#include "mcp/client/catalog/catalog_builder.hpp"

#include "mcp/client/catalog/tool_names.hpp"
#include "mcp/protocol/eras.hpp"
#include "mcp/redact/hidden_text.hpp"
#include "mcp/support/text.hpp"

#include <algorithm>
#include <unordered_map>
#include <utility>

namespace mcpbx::mcp {
namespace {

constexpr std::size_t remembered_notices = 1024;

std::uint64_t definition_hash(std::string_view server, const raw_json& definition) {
  // Two hashes joined, so that no text of one can be read as the end of the other.
  return stable_hash(definition.text()) * 31 + stable_hash(server);
}

/// Null: it is not.
std::shared_ptr<const std::string> why_withheld(const withheld_ptr& withheld, const std::string& own) {
  if (!withheld) return nullptr;
  const auto found = withheld->find(own);
  return found == withheld->end() ? nullptr : found->second;
}

entry_ptr make_entry(const catalog_builder::server& s, const tool_view& tool, const std::string& name,
                     const rule_names& rules) {
  auto e = std::make_shared<catalog_entry>();
  e->name = name;
  e->server = s.name;
  e->tool = tool.name;
  e->definition = tool.definition;
  e->exposed = definition_named(tool.definition, name, tool.name);
  e->legacy = legacy_definition(e->exposed);
  e->description = tool.description;
  e->annotations = {tool.read_only, tool.destructive, tool.idempotent, tool.open_world, tool.title};
  e->manner = s.calls.of(tool);
  e->owner = s.owner;
  e->hash = definition_hash(s.name, tool.definition);
  e->origin = s.origin;
  e->rules = rules;
  return e;
}

bool is_same(const catalog_builder::server& a, const catalog_builder::server& b) {
  return a.name == b.name && !a.owner.owner_before(b.owner) && !b.owner.owner_before(a.owner);
}

bool is_same_text(const std::shared_ptr<const std::string>& a, const std::shared_ptr<const std::string>& b) {
  return a == b || (a && b && *a == *b);
}

}  // namespace

bool passes(const tool_filter& filter, std::string_view own) {
  const auto matches = [&](const std::string& glob) { return glob_match(glob, own); };
  if (!filter.allow.empty() && std::ranges::none_of(filter.allow, matches)) return false;
  return std::ranges::none_of(filter.deny, matches);
}

catalog_builder::catalog_builder(std::vector<server> servers)
    : last_(std::make_shared<const catalog>(std::vector<entry_ptr>{}, 0)) {
  set_servers(std::move(servers));
}

void catalog_builder::set_servers(std::vector<server> servers) {
  std::vector<std::string> names;
  for (const server& s : servers) names.push_back(s.name);
  prefixes_ = settle_prefixes(names);
  auto before = std::exchange(servers_, {});
  for (std::size_t i = 0; i < servers.size(); ++i) {
    server& s = servers[i];
    const auto known = std::ranges::find_if(before, [&](const offered& o) { return is_same(o.s, s); });
    offered o = known == before.end() ? offered() : std::move(*known);
    if (o.s.calls != s.calls || !is_same_text(o.s.origin, s.origin)) o.entries.clear();  // they say it themselves
    o.s = std::move(s);
    o.prefix = prefixes_[i];
    o.stale = true;
    servers_.push_back(std::move(o));
  }
}

void catalog_builder::set_tools(std::size_t index, tool_list tools, withheld_ptr withheld, tool_names_ptr prefixed) {
  offered& o = servers_.at(index);
  o.tools = std::move(tools);
  o.withheld = std::move(withheld);
  o.prefixed = std::move(prefixed);
  o.stale = true;
}

void catalog_builder::set_dropped(std::size_t index, std::vector<std::string> why) {
  servers_.at(index).unread = std::move(why);
}

void catalog_builder::refilter(offered& o) {
  o.kept.clear();
  if (!o.tools) return;
  for (std::size_t i = 0; i < o.tools->size(); ++i)
    if (passes(o.s.tools, (*o.tools)[i].name)) o.kept.push_back(i);
}

void catalog_builder::make_entries(offered& o, const std::vector<std::string>& names) {
  std::unordered_map<std::string_view, const entry_ptr*> old;
  for (const entry_ptr& e : o.entries) old.emplace(e->tool, &e);
  std::vector<entry_ptr> entries;
  entries.reserve(o.kept.size());
  o.hidden.clear();
  o.unnamed.clear();
  static const rule_names no_others;
  for (std::size_t i = 0; i < o.kept.size(); ++i) {
    const tool_view& tool = (*o.tools)[o.kept[i]];
    const rule_names& rules = o.ruled.empty() ? no_others : o.ruled[i];
    if (names[i].empty()) {
      o.unnamed.push_back(tool.name);
      continue;
    }
    if (const auto why = why_withheld(o.withheld, tool.name)) {
      o.hidden.emplace(names[i], withheld_tool{o.s.name, tool.name, why, rules});
      continue;
    }
    const auto found = old.find(tool.name);
    const bool same = found != old.end() && (*found->second)->name == names[i] &&
                      (*found->second)->definition.text() == tool.definition.text() && (*found->second)->rules == rules;
    entries.push_back(same ? *found->second : make_entry(o.s, tool, names[i], rules));
  }
  o.entries = std::move(entries);
}

void catalog_builder::notice(const offered& o, const std::vector<std::string>& sentences) {
  for (const std::string& s : sentences) {
    std::string text = "tool server \"" + o.s.name + "\": " + s;
    if (noticed_.size() < remembered_notices && noticed_.insert(text).second) notices_.push_back(std::move(text));
  }
}

// Rules know a plain server's tools by two names more, whichever it gets.
named_tools catalog_builder::name_tools(offered& o, std::set<std::string, std::less<>>& taken) const {
  std::vector<std::string_view> own;
  own.reserve(o.kept.size());
  for (const std::size_t i : o.kept) own.push_back((*o.tools)[i].name);
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

catalog_ptr catalog_builder::build() {
  // Plain names depend on the servers before them, so they are settled anew each time; the others only when their own
  // list has changed.
  std::set<std::string, std::less<>> taken;
  for (offered& o : servers_) {
    const bool stale = std::exchange(o.stale, false);
    if (stale) refilter(o);
    if (!stale && !o.s.plain_names) continue;
    const named_tools named = name_tools(o, taken);
    notice(o, named.notices);
    make_entries(o, named.names);
  }
  std::vector<entry_ptr> entries;
  withheld_tools withheld;
  std::vector<dropped_tool> dropped;
  for (const offered& o : servers_) {
    entries.insert(entries.end(), o.entries.begin(), o.entries.end());
    withheld.insert(o.hidden.begin(), o.hidden.end());
    const auto drop = [&](const std::string& why) {
      dropped.push_back({o.s.name, "tool server \"" + o.s.name + "\": " + why});
    };
    for (const auto& why : o.unread) drop(why);
    for (const auto& own : o.unnamed)
      drop("tool \"" + printable(own) + "\" is left out: every name for it is taken; give it one with tools.rename");
  }
  if (!std::ranges::equal(entries, last_->entries()) || withheld != last_->withheld() || dropped != last_->dropped())
    last_ = std::make_shared<const catalog>(std::move(entries), last_->revision() + 1, std::move(withheld),
                                            std::move(dropped));
  return last_;
}

std::vector<std::string> catalog_builder::take_notices() {
  return std::exchange(notices_, {});
}

}  // namespace mcpbx::mcp

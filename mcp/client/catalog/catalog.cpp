// Implements one snapshot: look-up, the prebuilt lists, and names that resemble an unknown one.
#include "mcp/client/catalog/catalog.hpp"

#include "mcp/protocol/eras.hpp"
#include "mcp/support/text.hpp"

#include <algorithm>
#include <utility>

namespace mcpbx::mcp::catalogs {
namespace {

json::raw_json joined_list(std::span<const entry_ptr> entries, json::raw_json catalog_entry::* definition) {
  std::vector<std::string_view> texts;
  texts.reserve(entries.size());
  for (const entry_ptr& e : entries) texts.push_back(((*e).*definition).text());
  return list_result(protocol::tool_kind().member, texts);
}

}  // namespace

catalog::catalog(std::vector<entry_ptr> entries, std::uint64_t revision, withheld_tools withheld,
                 std::vector<dropped_item> dropped, catalog_rest rest)
    : entries_(std::move(entries)),
      withheld_(std::move(withheld)),
      dropped_(std::move(dropped)),
      rest_(std::move(rest)),
      revision_(revision) {
  by_name_.reserve(entries_.size());
  for (const entry_ptr& e : entries_) by_name_.emplace(e->name, e);
}

entry_ptr catalog::find(std::string_view name) const {
  const auto found = by_name_.find(name);
  return found == by_name_.end() ? nullptr : found->second;
}

const withheld_tool* catalog::find_withheld(std::string_view name) const {
  const auto found = withheld_.find(name);
  return found == withheld_.end() ? nullptr : &found->second;
}

entry_ptr renamed(const catalog_entry& e, const std::string& name) {
  auto copy = std::make_shared<catalog_entry>(e);
  copy->listed = e.listed_name();
  copy->name = name;
  copy->exposed = definition_named(e.definition, name, e.tool);
  copy->legacy = protocol::legacy_definition(copy->exposed);
  return copy;
}

json::raw_json definition_named(const json::raw_json& definition, const std::string& key, const std::string& own,
                                std::string_view member) {
  if (key == own) return definition;
  auto object = json::raw_object::open(definition);
  if (!object) return definition;
  object->set(member, json::raw_json::string(key));
  return object->json();
}

std::string withheld_text(std::string_view name, const withheld_tool& tool) {
  return "the tool " + json::json_quoted(cut_utf8(name, 128)) + " of tool server " + json::json_quoted(tool.server) +
         " is not offered: " + *tool.why;
}

json::raw_json catalog::tools_list() const {
  if (!list_) list_ = joined_list(entries_, &catalog_entry::exposed);
  return list_;
}

json::raw_json catalog::legacy_tools_list() const {
  if (legacy_list_) return legacy_list_;
  const bool same = std::ranges::all_of(
      entries_, [](const entry_ptr& e) { return e->legacy.text().data() == e->exposed.text().data(); });
  legacy_list_ = same ? tools_list() : joined_list(entries_, &catalog_entry::legacy);
  return legacy_list_;
}

const feature_entries* catalog::others_of(const protocol::feature_kind& kind) const {
  const std::size_t place = kind.index() - 1;
  return kind.id != protocol::kind_id::tools && place < rest_.others.size() ? rest_.others[place].get() : nullptr;
}

feature_entry_ptr catalog::find(const protocol::feature_kind& kind, std::string_view key) const {
  const feature_entries* all = others_of(kind);
  return all ? all->find(key) : nullptr;
}

json::raw_json catalog::list(const protocol::feature_kind& kind) const {
  if (kind.id == protocol::kind_id::tools) return legacy_tools_list();
  const feature_entries* all = others_of(kind);
  return all ? all->list() : list_result(kind.member, {});
}

std::optional<resource_route> catalog::route_resource(std::string_view uri) const {
  return rest_.routes ? rest_.routes->find(uri) : std::nullopt;
}

bool catalog::allows_resource(const resource_route& route, std::string_view asked) const {
  return rest_.routes && rest_.routes->allows(route, asked);
}

void catalog::saw_uri(const std::string& server, std::string_view uri) const {
  if (rest_.routes) rest_.routes->seen().add(server, uri);
}

list_hints catalog::hints(const protocol::feature_kind& kind, time_point now) const {
  return rest_.hints ? rest_.hints->joined(kind, now) : list_hints{};
}

json::segments catalog::modern_list(const protocol::feature_kind& kind, time_point now) const {
  const auto [ttl, is_private] = hints(kind, now);
  const json::raw_json list = kind.id == protocol::kind_id::tools ? tools_list() : this->list(kind);
  json::segments out;
  out.append_copy(R"({"resultType":"complete","ttlMs":)" + std::to_string(ttl.count()) + R"(,"cacheScope":")" +
                  (is_private ? "private" : "public") + "\",");
  out.append(list.slice(list.text().substr(1)));
  return out;
}

bool catalog::differs(const protocol::feature_kind& kind, const catalog& other) const {
  // Methods of extensions have no list of their own: callers look for them when they hear of the tools.
  if (kind.id == protocol::kind_id::tools)
    return !std::ranges::equal(entries_, other.entries_) || withheld_ != other.withheld_ ||
           rest_.extensions != other.rest_.extensions;
  const feature_entries *ours = others_of(kind), *theirs = other.others_of(kind);
  if (ours == theirs) return false;
  using entries = std::span<const feature_entry_ptr>;
  return !std::ranges::equal(ours ? ours->entries() : entries(), theirs ? theirs->entries() : entries());
}

const std::vector<std::string>& catalog::similar(std::string_view name) const {
  const auto known = std::ranges::find(asked_, name, &asked::name);
  if (known != asked_.end()) return known->similar;
  asked one{std::string(cut_utf8(name, longest_asked)), {}};
  if (one.name.size() == name.size()) one.similar = find_similar(name);
  ++searches_;
  if (asked_.size() < most_asked) return asked_.emplace_back(std::move(one)).similar;
  auto& oldest = asked_[searches_ % most_asked];
  oldest = std::move(one);
  return oldest.similar;
}

std::vector<std::string> catalog::find_similar(std::string_view name) const {
  std::vector<std::string> out;
  const auto add = [&](std::string_view found) {
    if (out.size() < most_similar && std::ranges::find(out, found) == out.end()) out.emplace_back(found);
  };
  // Suggest the tool by the server's own name first: it is the most likely mistake.
  for (const entry_ptr& e : entries_)
    if (e->tool == name) add(e->name);
  std::vector<std::string_view> all;
  all.reserve(entries_.size());
  for (const entry_ptr& e : entries_) all.emplace_back(e->name);
  for (const auto found : nearest_few(name, all, most_similar)) add(found);
  return out;
}

}  // namespace mcpbx::mcp::catalogs

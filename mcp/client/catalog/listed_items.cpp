// Turns the lists of one kind into its entries.
#include "mcp/client/catalog/listed_items.hpp"

#include "mcp/client/catalog/catalog.hpp"
#include "mcp/client/catalog/tool_names.hpp"
#include "mcp/redact/hidden_text.hpp"

#include <algorithm>
#include <string_view>
#include <unordered_map>
#include <utility>

namespace mcpbx::mcp {
namespace {

/// Returns the key of each item for callers; "": none can be had.
std::vector<std::string> exposed_keys(const feature_kind& kind, std::string_view prefix,
                                      const std::vector<feature_item>& items) {
  std::vector<std::string_view> own;
  own.reserve(items.size());
  for (const feature_item& item : items) own.push_back(item.key);
  if (kind.keys == key_rule::as_it_is) return {own.begin(), own.end()};
  return prefixed_names(prefix, own, {}).names;
}

}  // namespace

listed_items::listed_items(const feature_kind& kind)
    : kind_(&kind), last_(std::make_shared<const feature_entries>(kind, std::vector<feature_entry_ptr>())) {}

void listed_items::set_servers(std::vector<server> servers, std::span<const std::size_t> before) {
  auto old = std::exchange(servers_, {});
  for (std::size_t i = 0; i < servers.size(); ++i) {
    listed l = before[i] == no_server ? listed() : std::move(old[before[i]]);
    l.s = std::move(servers[i]);
    servers_.push_back(std::move(l));
  }
  stale_ = true;
}

void listed_items::set(std::size_t index, feature_list list, withheld_ptr withheld) {
  listed& l = servers_.at(index);
  l.list = std::move(list);
  l.withheld = std::move(withheld);
  stale_ = true;
}

void listed_items::make_entries(listed& l, std::unordered_set<std::string>& taken) const {
  l.left_out.clear();
  const auto before = std::exchange(l.entries, {});
  if (!l.list) return;
  std::unordered_map<std::string_view, const feature_entry_ptr*> old;
  for (const feature_entry_ptr& e : before) old.emplace(e->own_key, &e);
  const auto keys = exposed_keys(*kind_, l.s.prefix, *l.list);
  for (std::size_t i = 0; i < keys.size(); ++i) {
    const feature_item& item = (*l.list)[i];
    if (keys[i].empty() || !taken.insert(keys[i]).second) {
      l.left_out.push_back(std::string(kind_->noun) + " \"" + printable(item.key) + "\" is left out: " +
                           (keys[i].empty() ? "every name for it is taken" : "an earlier server has it"));
      continue;
    }
    if (l.withheld && l.withheld->contains(item.key)) continue;
    const auto found = old.find(item.key);
    if (found != old.end() && (*found->second)->key == keys[i] &&
        (*found->second)->definition.text() == item.definition.text()) {
      l.entries.push_back(*found->second);
      continue;
    }
    l.entries.push_back(std::make_shared<const feature_entry>(
        feature_entry{keys[i], l.s.name, item.key, item.definition,
                      definition_named(item.definition, keys[i], item.key, kind_->key_member), l.s.owner}));
  }
}

const feature_entries_ptr& listed_items::build() {
  if (!std::exchange(stale_, false)) return last_;
  std::unordered_set<std::string> taken;
  std::vector<feature_entry_ptr> entries;
  for (listed& l : servers_) {
    make_entries(l, taken);
    entries.insert(entries.end(), l.entries.begin(), l.entries.end());
  }
  if (!std::ranges::equal(entries, last_->entries()))
    last_ = std::make_shared<const feature_entries>(*kind_, std::move(entries));
  return last_;
}

}  // namespace mcpbx::mcp

// Turns the lists of one kind into its entries.
#include "mcp/client/catalog/listed_items.hpp"

#include "mcp/client/catalog/catalog.hpp"
#include "mcp/client/catalog/entry_pages.hpp"
#include "mcp/client/catalog/resource_routes.hpp"
#include "mcp/client/catalog/tool_names.hpp"
#include "mcp/redact/hidden_text.hpp"
#include "mcp/support/keyed_hash.hpp"

#include <algorithm>
#include <utility>

namespace mcpbx::mcp::catalogs {

listed_items::listed_items(const protocol::feature_kind& kind)
    : kind_(&kind), last_(std::make_shared<const feature_entries>(kind, std::vector<feature_entry_ptr>())) {}

void listed_items::set_servers(std::vector<server> servers, std::span<const std::size_t> before) {
  auto old = std::exchange(servers_, {});
  prefixes_.clear();
  for (std::size_t i = 0; i < servers.size(); ++i) {
    listed l = before[i] == no_server ? listed() : std::move(old[before[i]]);
    l.s = std::move(servers[i]);
    prefixes_.push_back(l.s.prefix);
    servers_.push_back(std::move(l));
  }
  stale_ = true;
}

void listed_items::set(std::size_t index, protocol::feature_list list, withheld_ptr withheld) {
  listed& l = servers_.at(index);
  l.list = std::move(list);
  l.withheld = std::move(withheld);
  stale_ = true;
}

// Names items as tools are named, and lets rules find them under the same names.
void listed_items::name_prefixed(const listed& l, std::vector<wanted>& items, taken_keys& taken) const {
  std::vector<std::string_view> own;
  own.reserve(items.size());
  for (const wanted& w : items) own.push_back(w.item->key);
  const auto& rename = l.s.filter.rename;
  auto prefixed = prefixed_names(l.s.prefix, own, rename);
  for (std::size_t i = 0; i < items.size(); ++i) {
    items[i].rules.other = std::move(prefixed.others[i]);
    if (!l.s.plain_names) continue;
    items[i].rules.prefixed = prefixed.names[i];
    items[i].rules.plain = plain_name(own[i], rename);
  }
  auto names = l.s.plain_names ? plain_names(own, rename, prefixes_, prefixed, taken).names : std::move(prefixed.names);
  for (std::size_t i = 0; i < items.size(); ++i) items[i].key = std::move(names[i]);
}

std::vector<listed_items::wanted> listed_items::choose(const listed& l, taken_keys& taken) const {
  const bool prefixed = kind_->keys == protocol::key_rule::prefixed;
  std::vector<wanted> items;
  for (const protocol::feature_item& item : *l.list)
    if (prefixed ? passes(l.s.filter.allow, l.s.filter.deny, item.key) : !l.s.uris || l.s.uris->passes(item.key))
      items.push_back({&item});
  if (prefixed) {
    name_prefixed(l, items, taken);
    return items;
  }
  // The first server that lists a URI has it; that of a later one says whose it is (docs/passing-on.md).
  for (wanted& w : items) {
    const std::string& own = w.item->key;
    w.key = own.starts_with(own_scheme) || !taken.insert(own).second ? uri_at(l.s.prefix, own) : own;
  }
  return items;
}

void listed_items::make_entries(listed& l, taken_keys& taken) const {
  l.left_out.clear();
  std::vector<feature_entry_ptr> entries;
  if (l.list) {
    text_view_map<const feature_entry_ptr*> old;
    for (const feature_entry_ptr& e : l.entries) old.emplace(e->own_key, &e);
    for (wanted& w : choose(l, taken)) {
      const protocol::feature_item& item = *w.item;
      if (w.key.empty()) {
        l.left_out.push_back(std::string(kind_->noun) + " \"" + redact::printable(item.key) +
                             "\" is left out: every name for it is taken");
        continue;
      }
      if (l.withheld && l.withheld->contains(item.key)) continue;
      const auto found = old.find(item.key);
      const feature_entry* e = found == old.end() ? nullptr : found->second->get();
      const bool same =
          e != nullptr && e->key == w.key && e->rules == w.rules && e->definition.text() == item.definition.text();
      entries.push_back(same ? *found->second
                             : std::make_shared<const feature_entry>(
                                   feature_entry{w.key, l.s.name, item.key, item.definition,
                                                 definition_named(item.definition, w.key, item.key, kind_->key_member),
                                                 l.s.owner, std::move(w.rules)}));
    }
  }
  if (!std::ranges::equal(entries, l.entries)) free_old_pages(entries);
  l.entries = std::move(entries);
}

const feature_entries_ptr& listed_items::build() {
  if (!std::exchange(stale_, false)) return last_;
  taken_keys taken;
  std::vector<feature_entry_ptr> entries;
  for (listed& l : servers_) {
    make_entries(l, taken);
    entries.insert(entries.end(), l.entries.begin(), l.entries.end());
  }
  if (!std::ranges::equal(entries, last_->entries()))
    last_ = std::make_shared<const feature_entries>(*kind_, std::move(entries));
  return last_;
}

}  // namespace mcpbx::mcp::catalogs

// Implements look-up, and the prebuilt result of the list method.
#include "mcp/client/catalog/feature_entries.hpp"

#include <utility>

namespace mcpbx::mcp::catalogs {

feature_entries::feature_entries(const protocol::feature_kind& kind, std::vector<feature_entry_ptr> entries)
    : kind_(kind), entries_(std::move(entries)) {
  by_key_.reserve(entries_.size());
  for (const feature_entry_ptr& e : entries_) by_key_.emplace(e->key, e);
}

feature_entry_ptr feature_entries::find(std::string_view key) const {
  const auto found = by_key_.find(key);
  return found == by_key_.end() ? nullptr : found->second;
}

json::raw_json feature_entries::list() const {
  if (list_) return list_;
  std::vector<std::string_view> definitions;
  definitions.reserve(entries_.size());
  for (const feature_entry_ptr& e : entries_) definitions.push_back(e->exposed.text());
  return list_ = list_result(kind_.member, definitions);
}

json::raw_json list_result(std::string_view member, std::span<const std::string_view> definitions) {
  const std::string begin = "{" + json::json_quoted(member) + ":[";
  constexpr std::string_view end = "]}";
  std::size_t size = begin.size() + end.size();
  for (const std::string_view d : definitions) size += d.size() + 1;
  byte_buffer out;
  out.reserve(size);
  out.append(begin);
  bool first = true;
  for (const std::string_view d : definitions) {
    if (!std::exchange(first, false)) out.append(',');
    out.append(d);
  }
  out.append(end);
  return json::raw_json::whole(out.take());
}

}  // namespace mcpbx::mcp::catalogs

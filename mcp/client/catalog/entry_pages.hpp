// Keeps entries from holding whole pages of old lists in memory for the sake of a few definitions.
#pragma once
#include "mcp/client/catalog/catalog.hpp"
#include "mcp/client/catalog/feature_entries.hpp"

#include <cstddef>
#include <memory>
#include <unordered_map>
#include <vector>

namespace mcpbx::mcp::catalogs {

/// Gives the definition a block of its own.
inline void detach_definition(feature_entry& e) {
  const bool shared = e.exposed.text().data() == e.definition.text().data();
  e.definition = e.definition.detached();
  if (shared) e.exposed = e.definition;
}
inline void detach_definition(catalog_entry& e) {
  const bool shared = e.exposed.text().data() == e.definition.text().data();
  const bool shares_legacy = e.legacy.text().data() == e.exposed.text().data();
  e.definition = e.definition.detached();
  if (shared) e.exposed = e.definition;
  if (shares_legacy) e.legacy = e.exposed;
}

/// Copies the entries whose definitions are less than half of the block that they lie in, so that it can be freed. For
/// entries of one server, after some of them have changed.
template <class Entry>
void free_old_pages(std::vector<std::shared_ptr<const Entry>>& entries) {
  constexpr std::size_t worth_copying = 4096;
  const auto block = [](const Entry& e) -> const shared_bytes& { return e.definition.owner(); };
  std::unordered_map<const char*, std::size_t> used;
  for (const auto& e : entries)
    if (block(*e).size() > worth_copying) used[block(*e).data()] += e->definition.text().size();
  for (auto& e : entries) {
    if (block(*e).size() <= worth_copying || used[block(*e).data()] >= block(*e).size() / 2) continue;
    auto copy = std::make_shared<Entry>(*e);
    detach_definition(*copy);
    e = std::move(copy);
  }
}

}  // namespace mcpbx::mcp::catalogs

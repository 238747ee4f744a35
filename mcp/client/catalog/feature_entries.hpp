// The entries of one kind in a snapshot of the catalog, in deterministic order: key -> definition and server. Tools
// have entries of their own (catalog_entry), because they are filtered, renamed and called.
#pragma once
#include "mcp/client/client.hpp"
#include "mcp/json/raw_json.hpp"
#include "mcp/protocol/features.hpp"

#include <cstddef>
#include <map>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

namespace mcpbx::mcp {

/// In place of the number of a server.
inline constexpr std::size_t no_server = static_cast<std::size_t>(-1);

struct feature_entry {
  std::string key;      ///< towards callers, as feature_kind::keys has it
  std::string server;   ///< configured name
  std::string own_key;  ///< the server's own
  raw_json definition;  ///< the server's own bytes
  raw_json exposed;     ///< the same with the key (and nothing else) replaced
  std::weak_ptr<mcp::client> owner;
};
using feature_entry_ptr = std::shared_ptr<const feature_entry>;

/// Definitions of one list that are not to be offered, by the server's own key, with the clause that says why.
using withheld_names = std::map<std::string, std::shared_ptr<const std::string>, std::less<>>;
using withheld_ptr = std::shared_ptr<const withheld_names>;

/// Never changes; snapshots share it as long as no entry of the kind differs.
class feature_entries {
 public:
  /// `kind` must outlive it. Keys are distinct.
  feature_entries(const feature_kind& kind, std::vector<feature_entry_ptr> entries);
  feature_entries(const feature_entries&) = delete;
  feature_entries& operator=(const feature_entries&) = delete;

  /// In order: servers as configured, each one's items as it lists them.
  std::span<const feature_entry_ptr> entries() const noexcept { return entries_; }
  feature_entry_ptr find(std::string_view key) const;
  /// The result object of the list method with every entry (no cursor), made once.
  raw_json list() const;

 private:
  const feature_kind& kind_;
  std::vector<feature_entry_ptr> entries_;
  std::unordered_map<std::string_view, feature_entry_ptr> by_key_;
  mutable raw_json list_;
};
using feature_entries_ptr = std::shared_ptr<const feature_entries>;

/// The result object of a list method: one member, an array of these definitions.
raw_json list_result(std::string_view member, std::span<const std::string_view> definitions);

}  // namespace mcpbx::mcp

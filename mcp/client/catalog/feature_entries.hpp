// The entries of one kind in a snapshot of the catalog, in deterministic order: key -> definition and server. Tools
// have entries of their own (catalog_entry), because they are filtered, renamed and called.
#pragma once
#include "mcp/client/client.hpp"
#include "mcp/json/raw_json.hpp"
#include "mcp/protocol/features.hpp"
#include "mcp/support/keyed_hash.hpp"

#include <cstddef>
#include <map>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace mcpbx::mcp::catalogs {

/// Stands for "no server" where a server's number is expected.
inline constexpr std::size_t no_server = static_cast<std::size_t>(-1);

/// Further names by which rules (allow, deny, approve) find a tool or a prompt, whichever name it is shown under.
/// Restrictive rules also apply to one that is shown under such a name.
struct rule_names {
  std::string prefixed;  ///< server__name, if names are plain; else "". Nothing else has it
  std::string plain;     ///< the plain name, if names are plain; else "". Another server's may have it
  /// The server__name that it would have with, or without, certain others of the server; "": always the same name.
  std::string other = {};
  bool operator==(const rule_names&) const = default;
};

/// An item of one kind under the key that callers know.
struct feature_entry {
  std::string key;            ///< key for callers, as feature_kind::keys has it
  std::string server;         ///< configured name
  std::string own_key;        ///< the server's own key
  json::raw_json definition;  ///< the server's own bytes
  json::raw_json exposed;     ///< `definition` with only the key replaced
  std::weak_ptr<clients::client> owner;
  rule_names rules = {};  ///< of a kind whose keys are prefixed
};
using feature_entry_ptr = std::shared_ptr<const feature_entry>;

/// Definitions of one list that must not be offered: the server's own key -> a clause with the reason.
using withheld_names = std::map<std::string, std::shared_ptr<const std::string>, std::less<>>;
using withheld_ptr = std::shared_ptr<const withheld_names>;

/// The immutable entries of one kind. Snapshots share the object as long as no entry of the kind differs.
class feature_entries {
 public:
  /// Takes entries with distinct keys. `kind` must outlive this object.
  feature_entries(const protocol::feature_kind& kind, std::vector<feature_entry_ptr> entries);
  feature_entries(const feature_entries&) = delete;
  feature_entries& operator=(const feature_entries&) = delete;

  const protocol::feature_kind& kind() const noexcept { return kind_; }
  /// Returns the entries in order: servers as configured, each server's items as it lists them.
  std::span<const feature_entry_ptr> entries() const noexcept { return entries_; }
  feature_entry_ptr find(std::string_view key) const;
  /// Returns the result object of the list method with every entry (no cursor); made once.
  json::raw_json list() const;

 private:
  const protocol::feature_kind& kind_;
  std::vector<feature_entry_ptr> entries_;
  text_view_map<feature_entry_ptr> by_key_;
  mutable json::raw_json list_;
};
using feature_entries_ptr = std::shared_ptr<const feature_entries>;

/// Returns the result object of a list method: one member, an array of these definitions.
json::raw_json list_result(std::string_view member, std::span<const std::string_view> definitions);

}  // namespace mcpbx::mcp::catalogs

// The lists of all servers for one kind other than tools, made into the entries of a snapshot: in the order of the
// servers, filtered, under keys as the kind's row says. Reuses every entry that did not change. Knows no I/O.
#pragma once
#include "mcp/client/catalog/feature_entries.hpp"
#include "mcp/client/catalog/item_filter.hpp"
#include "mcp/protocol/features.hpp"

#include <cstddef>
#include <memory>
#include <set>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace mcpbx::mcp::catalogs {

class listed_items {
 public:
  struct server {
    std::string name;    ///< configured name
    std::string prefix;  ///< prefix of its keys (tool_names.hpp)
    std::weak_ptr<clients::client> owner;
    item_filter filter = {};   ///< of a kind whose keys are prefixed
    uri_filter_ptr uris = {};  ///< of any other kind; null: everything passes
    bool plain_names = false;  ///< of a kind whose keys are prefixed
  };
  /// Starts without servers. `kind` must outlive this object and all entries.
  explicit listed_items(const protocol::feature_kind& kind);

  /// Replaces the servers, in file order. `before` has for each one the number of the earlier server whose list it
  /// keeps, or no_server.
  void set_servers(std::vector<server> servers, std::span<const std::size_t> before);

  /// Sets the list of server number `index`; null: unknown. Items in `withheld` keep their keys, so that other keys do
  /// not depend on them, but are not offered.
  void set(std::size_t index, protocol::feature_list list, withheld_ptr withheld);
  /// Returns the entries of the lists set now: the last ones themselves if none differs.
  const feature_entries_ptr& build();
  /// Returns the items of server number `index` that the last build() left out, one clause each.
  const std::vector<std::string>& left_out(std::size_t index) const { return servers_.at(index).left_out; }

 private:
  using taken_keys = std::set<std::string, std::less<>>;
  struct listed {
    server s{};
    protocol::feature_list list{};
    withheld_ptr withheld{};
    std::vector<feature_entry_ptr> entries{};
    std::vector<std::string> left_out{};
  };
  // An item that the filter lets through.
  struct wanted {
    const protocol::feature_item* item;
    std::string key{};  // for callers; "": none can be had
    rule_names rules{};
  };
  std::vector<wanted> choose(const listed& l, taken_keys& taken) const;
  void name_prefixed(const listed& l, std::vector<wanted>& items, taken_keys& taken) const;
  void make_entries(listed& l, taken_keys& taken) const;

  const protocol::feature_kind* kind_;
  std::vector<listed> servers_;
  std::vector<std::string> prefixes_;  // of all servers
  feature_entries_ptr last_;
  bool stale_ = false;
};

}  // namespace mcpbx::mcp::catalogs

// Makes catalog snapshots from the lists of all servers, reusing every entry that did not change. Knows no I/O.
#pragma once
#include "mcp/client/catalog/catalog.hpp"
#include "mcp/client/catalog/listed_items.hpp"
#include "mcp/client/catalog/listed_tools.hpp"
#include "mcp/protocol/features.hpp"

#include <cstddef>
#include <set>
#include <string>
#include <vector>

namespace mcpbx::mcp {

class catalog_builder {
 public:
  using server = catalog_server;
  /// All configured servers in file order, also those that are disabled: names must not depend on what is up. The table
  /// must outlive all snapshots.
  explicit catalog_builder(std::vector<server> servers, feature_table kinds = feature_kinds());
  /// Replaces the servers, and with them their numbers. One with the name and the owner of an earlier server keeps what
  /// was set for that.
  void set_servers(std::vector<server> servers);

  /// Sets the list of server number `index`; null when nothing is known of it. What is in `withheld` has its key, so
  /// that those of others do not depend on it, and is not offered. Tools in `prefixed` have no plain name: it is
  /// another one's.
  void set_list(std::size_t index, const feature_kind& kind, feature_list list, withheld_ptr withheld = {},
                tool_names_ptr prefixed = {});
  /// What that list has left out, one clause each.
  void set_dropped(std::size_t index, const feature_kind& kind, std::vector<std::string> why);
  /// The snapshot of what is set now: the last one itself when no entry differs.
  catalog_ptr build();
  /// What build() found worth a warning since this was last asked, each sentence once.
  std::vector<std::string> take_notices();

 private:
  void notice(const std::string& server, const std::vector<std::string>& sentences);
  std::vector<feature_entries_ptr> build_items();
  std::vector<dropped_item> all_dropped() const;

  feature_table kinds_;
  std::vector<std::string> names_;                  // of the servers
  std::vector<std::weak_ptr<mcp::client>> owners_;  // likewise
  listed_tools tools_;
  std::vector<listed_items> items_;                             // of each other kind, in the order of the table
  std::vector<std::vector<std::vector<std::string>>> dropped_;  // by server and kind
  catalog_ptr last_;
  std::vector<std::string> notices_;
  std::set<std::string> noticed_;
};

}  // namespace mcpbx::mcp

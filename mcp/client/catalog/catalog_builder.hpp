// Makes catalog snapshots from the lists of all servers and reuses every entry that did not change. Knows no I/O.
#pragma once
#include "mcp/client/catalog/catalog.hpp"
#include "mcp/client/catalog/catalog_offers.hpp"
#include "mcp/client/catalog/catalog_server.hpp"
#include "mcp/client/catalog/list_hints.hpp"
#include "mcp/client/catalog/listed_items.hpp"
#include "mcp/client/catalog/listed_tools.hpp"
#include "mcp/protocol/features.hpp"

#include <cstddef>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <vector>

namespace mcpbx::mcp::catalogs {

class catalog_builder {
 public:
  using server = catalog_server;
  /// Takes all configured servers in file order, also disabled ones: names must not depend on which servers are up. The
  /// table must outlive all snapshots.
  explicit catalog_builder(std::vector<server> servers, protocol::feature_table kinds = protocol::feature_kinds());
  /// Replaces the servers, and with them their numbers. A server with the name and the owner of an earlier one keeps
  /// the lists that were set for that one.
  void set_servers(std::vector<server> servers);

  /// Sets the list of server number `index`; null: unknown. Items in `withheld` keep their keys, so that other keys do
  /// not depend on them, but are not offered. Tools in `prefixed` get no plain name, which another tool has.
  void set_list(std::size_t index, const protocol::feature_kind& kind, protocol::feature_list list,
                withheld_ptr withheld = {}, tool_names_ptr prefixed = {});
  /// Sets the clauses about items that this list has left out.
  void set_dropped(std::size_t index, const protocol::feature_kind& kind, std::vector<std::string> why);
  /// Sets the capabilities that the server has told.
  void set_offers(std::size_t index, const protocol::server_offers& offers);
  /// Sets whether the server will never tell its capabilities, because it is disabled or has failed for good.
  void set_silent(std::size_t index, bool silent);
  /// Sets the server's hints about its list of this kind; nullopt: it has none. Snapshots made before have them as
  /// well.
  void set_hints(std::size_t index, const protocol::feature_kind& kind, const std::optional<told_hints>& hints);
  /// Returns the tools that a server lists, before any filter; null: unknown.
  protocol::feature_list tools_of(std::string_view server) const;
  /// Returns the snapshot of the lists set now: the last snapshot itself if no entry differs.
  catalog_ptr build();
  /// Returns the warnings of build() since the last call, each sentence once.
  std::vector<std::string> take_notices();

 private:
  void notice(const std::string& server, const std::vector<std::string>& sentences);
  std::vector<feature_entries_ptr> build_items();
  const resource_routes_ptr& build_routes(const std::vector<feature_entries_ptr>& others);
  const extension_routes_ptr& build_extensions();
  std::vector<dropped_item> all_dropped() const;

  protocol::feature_table kinds_;
  std::vector<std::string> names_;                      // configured name of each server
  std::vector<std::weak_ptr<clients::client>> owners_;  // client of each server
  listed_tools tools_;
  std::vector<listed_items> items_;                             // one for each other kind, in the order of the table
  std::vector<std::vector<std::vector<std::string>>> dropped_;  // by server and kind
  std::vector<told_offers> offers_;                             // by server
  std::vector<resource_server> readable_;                       // by server
  std::shared_ptr<seen_uris> seen_ = std::make_shared<seen_uris>();
  std::shared_ptr<hint_book> hints_ = std::make_shared<hint_book>();
  feature_entries_ptr no_resources_, no_templates_;  // for a table without these kinds
  resource_routes_ptr routes_;                       // the last ones; null: the servers have changed
  extension_routes_ptr extensions_;                  // the last ones
  catalog_ptr last_;
  std::vector<std::string> notices_;
  std::set<std::string> noticed_;
};

}  // namespace mcpbx::mcp::catalogs

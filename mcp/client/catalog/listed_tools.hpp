// The lists of tools of all servers, made into the entries of a snapshot: filtered, renamed, withheld and named as the
// configuration and the gate say. Reuses every entry that did not change. Knows no I/O.
#pragma once
#include "mcp/client/catalog/catalog.hpp"
#include "mcp/client/catalog/catalog_server.hpp"
#include "mcp/client/catalog/tool_names.hpp"
#include "mcp/protocol/features.hpp"

#include <cstddef>
#include <map>
#include <memory>
#include <set>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace mcpbx::mcp::catalogs {

/// Tools of one server, by the server's own names.
using tool_names = std::set<std::string, std::less<>>;
using tool_names_ptr = std::shared_ptr<const tool_names>;

class listed_tools {
 public:
  /// Replaces the servers, in file order, with their prefixes. `before` has for each one the number of the earlier
  /// server whose list it keeps, or no_server.
  void set_servers(std::vector<catalog_server> servers, std::vector<std::string> prefixes,
                   std::span<const std::size_t> before);

  /// Sets the list of server number `index`; null: unknown. Tools in `withheld` keep their names, so that other names
  /// do not depend on them, but are not offered. Tools in `prefixed` get no plain name, which another tool has.
  void set(std::size_t index, protocol::feature_list tools, withheld_ptr withheld, tool_names_ptr prefixed);
  /// Brings the entries up to date.
  void build();
  /// Returns the list that set() has taken, before any filter; null: unknown.
  const protocol::feature_list& list_of(std::size_t index) const { return servers_.at(index).tools; }

  // Results of the last build():
  std::vector<entry_ptr> entries() const;
  withheld_tools withheld() const;
  /// Returns the tools of server number `index` that were left out, one clause each.
  std::vector<std::string> left_out(std::size_t index) const;
  /// Returns the clashes of names of server number `index`, one sentence each, and forgets them.
  std::vector<std::string> take_notices(std::size_t index);

 private:
  struct offered {
    catalog_server s{};
    std::string prefix{};
    protocol::feature_list tools{};
    withheld_ptr withheld{};
    tool_names_ptr prefixed{};
    std::vector<std::string> unnamed{};  // own names of tools for which every name is taken
    std::vector<std::string> notices{};
    withheld_tools hidden{};          // the part of `withheld` that the filter lets through
    std::vector<std::size_t> kept{};  // positions in `tools` that the filter lets through
    std::vector<rule_names> ruled{};  // one for each in `kept`; empty: no tool has such names
    std::vector<entry_ptr> entries{};
    bool stale = true;
  };
  void refilter(offered& o);
  named_tools name_tools(offered& o, std::set<std::string, std::less<>>& taken) const;
  void make_entries(offered& o, const std::vector<std::string>& names);

  std::vector<offered> servers_;
  std::vector<std::string> prefixes_;
};

}  // namespace mcpbx::mcp::catalogs

// What all servers list of tools, made into the entries of a snapshot: filtered, renamed, withheld and named as the
// configuration and the gate say. Every entry that did not change is used again. Knows no I/O.
#pragma once
#include "mcp/client/catalog/catalog.hpp"
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

namespace mcpbx::mcp {

struct tool_filter {
  std::vector<std::string> allow, deny;       ///< globs over the server's own names; empty allow: everything
  std::map<std::string, std::string> rename;  ///< own name -> the tool's part of the name to expose
};

/// Returns true if these patterns let the server's own tool of this name through; `deny` wins.
bool passes(std::span<const std::string> allow, std::span<const std::string> deny, std::string_view own);

/// Tools of one server, by the server's own names.
using tool_names = std::set<std::string, std::less<>>;
using tool_names_ptr = std::shared_ptr<const tool_names>;

/// A server as the configuration has it.
struct catalog_server {
  std::string name;
  tool_filter tools;
  bool plain_names = false;
  std::weak_ptr<mcp::client> owner;
  call_rules calls = {};
  /// Names the program or address behind it, in words of the configuration's owner that are compared and hashed,
  /// never read; null: nobody says.
  std::shared_ptr<const std::string> origin = {};
};

class listed_tools {
 public:
  /// All configured servers in file order, and their prefixes.
  listed_tools(std::vector<catalog_server> servers, std::vector<std::string> prefixes);

  /// Sets the list of server number `index`; null when nothing is known of it. Tools in `withheld` have their names, so
  /// that those of others do not depend on it, and are not offered. Those in `prefixed` have no plain name: it is
  /// another one's.
  void set(std::size_t index, feature_list tools, withheld_ptr withheld, tool_names_ptr prefixed);
  /// Brings the entries up to date.
  void build();

  // Of the last build():
  std::vector<entry_ptr> entries() const;
  withheld_tools withheld() const;
  /// What was left out of the list of server number `index`, one clause each.
  std::vector<std::string> left_out(std::size_t index) const;
  /// Names of server number `index` that clash, one sentence each.
  std::vector<std::string> take_notices(std::size_t index);

 private:
  struct offered {
    catalog_server s;
    std::string prefix;
    feature_list tools{};
    withheld_ptr withheld{};
    tool_names_ptr prefixed{};
    std::vector<std::string> unnamed{};  // own names of those that no name could be had for
    std::vector<std::string> notices{};
    withheld_tools hidden{};          // of `withheld`, those that the filter lets through
    std::vector<std::size_t> kept{};  // positions in `tools` that the filter lets through
    std::vector<rule_names> ruled{};  // of each in `kept`, or none: no tool has such names
    std::vector<entry_ptr> entries{};
    bool stale = true;
  };
  void refilter(offered& o);
  named_tools name_tools(offered& o, std::set<std::string, std::less<>>& taken) const;
  void make_entries(offered& o, const std::vector<std::string>& names);

  std::vector<offered> servers_;
  std::vector<std::string> prefixes_;
};

}  // namespace mcpbx::mcp

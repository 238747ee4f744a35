// Makes catalog snapshots from the lists of all servers, reusing every entry that did not change. Knows no I/O.
#pragma once
#include "mcp/client/catalog/catalog.hpp"
#include "mcp/client/catalog/tool_names.hpp"
#include "mcp/protocol/tools.hpp"

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
  bool operator==(const tool_filter&) const = default;
};

/// Whether the filter lets the server's own tool of this name through.
bool passes(const tool_filter& filter, std::string_view own);

/// What one server offers now; never changed once it is handed on.
using tool_list = std::shared_ptr<const std::vector<tool_view>>;

/// Tools of one list that are not to be offered, by the server's own name, with the clause that says why.
using withheld_names = std::map<std::string, std::shared_ptr<const std::string>, std::less<>>;
using withheld_ptr = std::shared_ptr<const withheld_names>;

/// Tools of one server, by the server's own names.
using tool_names = std::set<std::string, std::less<>>;
using tool_names_ptr = std::shared_ptr<const tool_names>;

class catalog_builder {
 public:
  struct server {
    std::string name;
    tool_filter tools;
    bool plain_names = false;
    std::weak_ptr<mcp::client> owner;
    call_rules calls = {};
    /// Names the program or address behind it, in words of the configuration's owner that are compared and hashed,
    /// never read; null: nobody says.
    std::shared_ptr<const std::string> origin = {};
  };
  /// All configured servers in file order, also those that are disabled: names must not depend on what is up.
  explicit catalog_builder(std::vector<server> servers);
  /// Replaces the servers, and with them their numbers. One with the name and the owner of an earlier server keeps what
  /// was set for that.
  void set_servers(std::vector<server> servers);

  /// Sets the list of server number `index`; null when nothing is known of it. Tools in `withheld` have their names, so
  /// that those of others do not depend on it, and are not offered. Those in `prefixed` have no plain name: it is
  /// another one's.
  void set_tools(std::size_t index, tool_list tools, withheld_ptr withheld = {}, tool_names_ptr prefixed = {});
  /// What the list of server number `index` has left out, one clause each.
  void set_dropped(std::size_t index, std::vector<std::string> why);
  /// The snapshot of what is set now: the last one itself when no entry differs.
  catalog_ptr build();
  /// What build() found worth a warning since this was last asked, each sentence once.
  std::vector<std::string> take_notices();

 private:
  struct offered {
    server s;
    std::string prefix;
    tool_list tools;
    withheld_ptr withheld;
    tool_names_ptr prefixed;
    std::vector<std::string> unread;   // what the list has left out
    std::vector<std::string> unnamed;  // own names of those that no name could be had for
    withheld_tools hidden;             // of `withheld`, those that the filter lets through
    std::vector<std::size_t> kept;     ///< positions in `tools` that the filter lets through
    std::vector<rule_names> ruled;     ///< of each in `kept`, or none: no tool has such names
    std::vector<entry_ptr> entries;
    bool stale = true;
  };
  void refilter(offered& o);
  named_tools name_tools(offered& o, std::set<std::string, std::less<>>& taken) const;
  void make_entries(offered& o, const std::vector<std::string>& names);
  void notice(const offered& o, const std::vector<std::string>& sentences);

  std::vector<offered> servers_;
  std::vector<std::string> prefixes_;
  catalog_ptr last_;
  std::vector<std::string> notices_;
  std::set<std::string> noticed_;
};

}  // namespace mcpbx::mcp

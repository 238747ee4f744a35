// The catalog: an immutable snapshot that maps tool names to clients and holds the lists of the other kinds, in
// deterministic order. A change makes a new snapshot that shares unchanged entries; holders of an old one keep a
// consistent view.
#pragma once
#include "mcp/client/catalog/call_rules.hpp"
#include "mcp/client/catalog/catalog_offers.hpp"
#include "mcp/client/catalog/feature_entries.hpp"
#include "mcp/client/catalog/list_hints.hpp"
#include "mcp/client/catalog/resource_routes.hpp"
#include "mcp/client/client.hpp"
#include "mcp/json/raw_json.hpp"
#include "mcp/protocol/extensions.hpp"
#include "mcp/protocol/features.hpp"
#include "mcp/support/keyed_hash.hpp"

#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace mcpbx::mcp::catalogs {

/// The annotations of a definition. They are hints, never trusted for safety by themselves.
struct tool_annotations {
  bool read_only = false, destructive = true, idempotent = false, open_world = true;
  std::string title;  ///< annotations.title, else the definition's title

  /// Returns true unless the server says that the tool only reads, or leaves existing data intact.
  bool may_destroy() const noexcept { return !read_only && destructive; }
};

/// A tool under the name that callers know, with its definition, its client and its rules.
struct catalog_entry {
  std::string name;           ///< exposed name, at most 64 characters of [A-Za-z0-9_-] unless toolNames is plain
  std::string server;         ///< configured name
  std::string tool;           ///< the server's own name of the tool
  std::string listed;         ///< the name in the whole catalog if `name` comes from a profile; else ""
  json::raw_json definition;  ///< the server's own bytes
  json::raw_json exposed;     ///< `definition` with only `name` replaced
  json::raw_json legacy;      ///< `exposed` as a legacy caller may see it (legacy_definition())
  std::string description;    ///< unescaped
  tool_annotations annotations;
  call_manner manner;
  std::weak_ptr<clients::client> owner;
  rule_names rules;
  std::uint64_t hash = 0;  ///< stable hash of the definition's bytes and the server's name
  /// Origin of the server, see catalog_server; null: unknown.
  std::shared_ptr<const std::string> origin = {};
  /// Returns the name that the whole catalog has for the tool.
  const std::string& listed_name() const noexcept { return listed.empty() ? name : listed; }
};
using entry_ptr = std::shared_ptr<const catalog_entry>;

/// A tool that exists and is not offered: no list has it, and calls of it are refused with `why`.
struct withheld_tool {
  std::string server;                      ///< configured name
  std::string tool;                        ///< the server's own name of the tool
  std::shared_ptr<const std::string> why;  ///< a clause such as "its definition changed …"
  rule_names rules = {};
  bool operator==(const withheld_tool&) const = default;
};
/// Withheld tools by the name under which they would be exposed.
using withheld_tools = std::map<std::string, withheld_tool, std::less<>>;

/// An item that a server lists and the catalog cannot hold, such as an invalid definition.
struct dropped_item {
  std::string server;  ///< configured name
  std::string reason;  ///< one sentence that names the server
  bool operator==(const dropped_item&) const = default;
};

/// A server that methods of extensions may go to.
struct extension_route {
  std::string server;  ///< configured name
  std::weak_ptr<clients::client> owner;
  protocol::extension_methods methods;  ///< named by its entry
  std::vector<std::string> open = {};   ///< its open extensions, as protocol::open_extensions() finds them
};
/// All of them in the order of the configuration; null: there are none.
using extension_routes_ptr = std::shared_ptr<const std::vector<extension_route>>;

/// The part of a snapshot that is not about tools.
struct catalog_rest {
  std::vector<feature_entries_ptr> others = {};  ///< entries of each kind other than tools, in the order of the table
  catalog_offers offers = {};
  resource_routes_ptr routes = {};              ///< null: no URI leads anywhere
  std::shared_ptr<const hint_book> hints = {};  ///< null: none
  extension_routes_ptr extensions = {};
};

/// One immutable snapshot. Only the URIs seen in results and the hints for caching change, which all snapshots share.
class catalog {
 public:
  catalog(std::vector<entry_ptr> entries, std::uint64_t revision, withheld_tools withheld = {},
          std::vector<dropped_item> dropped = {}, catalog_rest rest = {});
  /// Returns the tools in order: servers as configured, each server's tools as it lists them.
  std::span<const entry_ptr> entries() const noexcept { return entries_; }
  entry_ptr find(std::string_view name) const;
  /// Returns null if no tool of this name is withheld.
  const withheld_tool* find_withheld(std::string_view name) const;
  const withheld_tools& withheld() const noexcept { return withheld_; }
  /// Returns the dropped items in the order of the servers; feature_lister bounds their number.
  const std::vector<dropped_item>& dropped() const noexcept { return dropped_; }
  std::uint64_t revision() const noexcept { return revision_; }
  const catalog_rest& rest() const noexcept { return rest_; }
  /// Returns the capabilities that all servers have together.
  const catalog_offers& capabilities() const noexcept { return rest_.offers; }
  /// Finds the server that a resource is read from, also one that nobody lists (resource_routes). Nullopt: none has it,
  /// or callers may not read it.
  std::optional<resource_route> route_resource(std::string_view uri) const;
  /// Tells whether a caller that asked for this URI may still read it where the route led.
  bool allows_resource(const resource_route& route, std::string_view asked) const;
  /// Notes a URI that a result of this server has, so that it leads there.
  void saw_uri(const std::string& server, std::string_view uri) const;
  /// Returns the entry of a kind other than tools that callers know under this key, or null.
  feature_entry_ptr find(const protocol::feature_kind& kind, std::string_view key) const;
  /// Returns the result object of a kind's list method for a legacy caller, with every entry (no cursor); made once.
  json::raw_json list(const protocol::feature_kind& kind) const;
  /// Returns the hints about the caching of that list.
  list_hints hints(const protocol::feature_kind& kind, time_point now) const;
  /// Returns the result object of a kind's list method for a modern caller, with the hints. The list itself is made
  /// once.
  json::segments modern_list(const protocol::feature_kind& kind, time_point now) const;
  /// Returns true if callers may see a difference between the two snapshots in this kind.
  bool differs(const protocol::feature_kind& kind, const catalog& other) const;
  /// Returns the result object of tools/list with every tool (no cursor), made once per snapshot.
  json::raw_json tools_list() const;
  /// Returns the same for a legacy caller. Shares the other's bytes if no definition differs.
  json::raw_json legacy_tools_list() const;
  /// Returns up to 5 names that resemble `name`, for "unknown tool" texts; valid until the next call. The latest
  /// searches are remembered, since each one goes through all tools and callers repeat their mistakes.
  const std::vector<std::string>& similar(std::string_view name) const;
  /// Returns the number of times that similar() had to go through all tools.
  std::size_t searches() const noexcept { return searches_; }

 private:
  std::vector<entry_ptr> entries_;
  withheld_tools withheld_;
  std::vector<dropped_item> dropped_;
  catalog_rest rest_;
  text_view_map<entry_ptr> by_name_;
  std::uint64_t revision_;
  static constexpr std::size_t most_similar = 5, most_asked = 64, longest_asked = 256;
  struct asked {
    std::string name;
    std::vector<std::string> similar;
  };
  const feature_entries* others_of(const protocol::feature_kind& kind) const;
  std::vector<std::string> find_similar(std::string_view name) const;
  mutable json::raw_json list_, legacy_list_;
  mutable std::vector<asked> asked_;
  mutable std::size_t searches_ = 0;
};
using catalog_ptr = std::shared_ptr<const catalog>;

/// Returns `definition` with `key` in `member`; the very same bytes if the key is `own` already.
json::raw_json definition_named(const json::raw_json& definition, const std::string& key, const std::string& own,
                                std::string_view member = "name");
/// Returns the same tool under a name of a profile.
entry_ptr renamed(const catalog_entry& e, const std::string& name);

/// Returns the sentence with which a call of a withheld tool is refused.
std::string withheld_text(std::string_view name, const withheld_tool& tool);

}  // namespace mcpbx::mcp::catalogs

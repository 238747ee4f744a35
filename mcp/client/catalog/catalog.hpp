// Tool name -> client, and the lists of the other kinds: an immutable snapshot in deterministic order. A change makes a
// new snapshot that shares unchanged entries; whoever holds an old one keeps a consistent view.
#pragma once
#include "mcp/client/catalog/call_rules.hpp"
#include "mcp/client/catalog/feature_entries.hpp"
#include "mcp/client/client.hpp"
#include "mcp/json/raw_json.hpp"
#include "mcp/protocol/features.hpp"

#include <cstdint>
#include <map>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

namespace mcpbx::mcp {

/// Names that rules (allow, deny, approve) find a tool by beside the one that it is shown under, so that they hold
/// whoever has that one. What restricts holds for the tool that has the name, too.
struct rule_names {
  std::string prefixed;  ///< server__tool, where names are plain, else "": no other tool has it
  std::string plain;     ///< where names are plain, else "": which another tool may have
  /// server__tool as it would be if other tools of the server were, or were not, listed beside it; "": always the same.
  std::string other = {};
  bool operator==(const rule_names&) const = default;
};

/// What the annotations of a definition say; hints only, never trusted for safety by themselves.
struct tool_annotations {
  bool read_only = false, destructive = true, idempotent = false, open_world = true;
  std::string title;  ///< annotations.title, else the definition's title

  /// True unless its server says that the tool only reads, or leaves intact what is there.
  bool may_destroy() const noexcept { return !read_only && destructive; }
};

struct catalog_entry {
  std::string name;         ///< exposed, at most 64 characters of [A-Za-z0-9_-] unless toolNames is plain
  std::string server;       ///< configured name
  std::string tool;         ///< the server's own name for it
  std::string listed;       ///< the name in the whole catalog, where `name` is that of a profile; else ""
  raw_json definition;      ///< the server's own bytes
  raw_json exposed;         ///< the same with `name` (and nothing else) replaced
  raw_json legacy;          ///< `exposed` as a legacy caller may see it (legacy_definition())
  std::string description;  ///< unescaped
  tool_annotations annotations;
  call_manner manner;
  std::weak_ptr<mcp::client> owner;
  rule_names rules;
  std::uint64_t hash = 0;  ///< stable over the definition's bytes and the server's name
  /// Where the server comes from, as catalog_builder::server has it; null: nobody said.
  std::shared_ptr<const std::string> origin = {};
  /// Under which name the whole catalog has it.
  const std::string& listed_name() const noexcept { return listed.empty() ? name : listed; }
};
using entry_ptr = std::shared_ptr<const catalog_entry>;

/// A tool that exists and is not offered: it is in no list, and calls of it are refused with `why`.
struct withheld_tool {
  std::string server;                      ///< configured name
  std::string tool;                        ///< the server's own name for it
  std::shared_ptr<const std::string> why;  ///< a clause such as "its definition changed …"
  rule_names rules = {};
  bool operator==(const withheld_tool&) const = default;
};
/// By the name under which it would be exposed.
using withheld_tools = std::map<std::string, withheld_tool, std::less<>>;

/// Something that a server lists and that cannot be in the catalog, such as a definition that is none.
struct dropped_item {
  std::string server;  ///< configured name
  std::string reason;  ///< one sentence that names the server
  bool operator==(const dropped_item&) const = default;
};

class catalog {
 public:
  catalog(std::vector<entry_ptr> entries, std::uint64_t revision, withheld_tools withheld = {},
          std::vector<dropped_item> dropped = {}, std::vector<feature_entries_ptr> others = {});
  /// The tools, in order: servers as configured, each one's as it lists them.
  std::span<const entry_ptr> entries() const noexcept { return entries_; }
  entry_ptr find(std::string_view name) const;
  /// Null when no tool of this name is withheld.
  const withheld_tool* find_withheld(std::string_view name) const;
  const withheld_tools& withheld() const noexcept { return withheld_; }
  /// In the order of the servers; of each as many as feature_lister tells.
  const std::vector<dropped_item>& dropped() const noexcept { return dropped_; }
  std::uint64_t revision() const noexcept { return revision_; }
  /// The entries of each kind other than tools, in the order of the table.
  const std::vector<feature_entries_ptr>& others() const noexcept { return others_; }
  /// The entry of a kind other than tools that callers know under this key; null when there is none.
  feature_entry_ptr find(const feature_kind& kind, std::string_view key) const;
  /// The result object of a kind's list method for a legacy caller, with every entry (no cursor); made once.
  raw_json list(const feature_kind& kind) const;
  /// True unless callers of both snapshots see the same of this kind.
  bool differs(const feature_kind& kind, const catalog& other) const;
  /// The result object of tools/list with every tool (no cursor), made once per snapshot.
  raw_json tools_list() const;
  /// The same for a legacy caller; shares the other's bytes when no definition differs.
  raw_json legacy_tools_list() const;
  /// Up to 5 names that resemble `name`, for "unknown tool" texts. The last names asked for are remembered: a search
  /// goes through all tools, and callers repeat their mistakes. Valid until the next call.
  const std::vector<std::string>& similar(std::string_view name) const;
  /// How often similar() had to look through all tools.
  std::size_t searches() const noexcept { return searches_; }

 private:
  std::vector<entry_ptr> entries_;
  withheld_tools withheld_;
  std::vector<dropped_item> dropped_;
  std::vector<feature_entries_ptr> others_;
  std::unordered_map<std::string_view, entry_ptr> by_name_;
  std::uint64_t revision_;
  static constexpr std::size_t most_similar = 5, most_asked = 64, longest_asked = 256;
  struct asked {
    std::string name;
    std::vector<std::string> similar;
  };
  const feature_entries* others_of(const feature_kind& kind) const;
  std::vector<std::string> find_similar(std::string_view name) const;
  mutable raw_json list_, legacy_list_;
  mutable std::vector<asked> asked_;
  mutable std::size_t searches_ = 0;
};
using catalog_ptr = std::shared_ptr<const catalog>;

/// `definition` with another key in `member`; the very same bytes when it is its key already (`own`).
raw_json definition_named(const raw_json& definition, const std::string& key, const std::string& own,
                          std::string_view member = "name");
/// The same tool under a name of a profile.
entry_ptr renamed(const catalog_entry& e, const std::string& name);

/// Why a call of this tool is refused: one sentence.
std::string withheld_text(std::string_view name, const withheld_tool& tool);

}  // namespace mcpbx::mcp

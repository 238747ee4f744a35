// The kinds of things that a server lists: tools, and whatever gets a row beside them. A list of every kind goes one
// way, from the server's session to the catalog to the callers; all differences between kinds stand in their rows.
#pragma once
#include "mcp/json/raw_json.hpp"
#include "mcp/support/error.hpp"

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace mcpbx::mcp::protocol {

/// The place of a kind in its table. Kinds that have code of their own have a name here.
enum class kind_id : std::uint8_t { tools, prompts, resources, resource_templates };

/// One definition out of a list.
struct feature_item {
  std::string key;            ///< the server's own name for it, or its URI; see feature_kind::key_member
  json::raw_json definition;  ///< the server's bytes
  std::string description;    ///< of a tool: unescaped; "" when there is none
  std::string title;          ///< of a tool: annotations.title, else title, else ""
  /// Hints of a tool's annotations: claims of its server, never to be trusted alone.
  bool read_only = false, destructive = true, idempotent = false, open_world = true;
};

/// All that a server lists of one kind now; never changed once it is handed on.
using feature_list = std::shared_ptr<const std::vector<feature_item>>;

/// Keeps items of several servers apart that have the same key.
enum class key_rule : std::uint8_t {
  prefixed,  ///< callers see SERVER__KEY (tool_names.hpp)
  as_it_is,  ///< callers see the server's own key; the first server that lists it has it
};

/// One kind. Its texts live for ever.
struct feature_kind {
  kind_id id;                      ///< its place in the table
  std::string_view capability;     ///< of the server, and of mcpbx: "tools". Kinds may share one
  std::string_view list_method;    ///< "tools/list"
  std::string_view member;         ///< of the result, with the definitions: "tools"
  std::string_view changed;        ///< the notification: "notifications/tools/list_changed"
  std::string_view listen_member;  ///< of subscriptions/listen: "toolsListChanged"
  std::string_view noun;           ///< for people: "tool"
  std::string_view key_member;     ///< of a definition: "name"
  key_rule keys;                   ///< makes the key that callers see
  result<feature_item> (*read)(
      json::raw_json) = {};  ///< checks a definition; an error is one clause that says what is wrong

  /// The index of what belongs to this kind in an array of all kinds.
  std::size_t index() const noexcept { return static_cast<std::size_t>(id); }
  /// "tools"
  std::string plural() const { return std::string(noun) + "s"; }
};

/// Rows in the order of their ids; the first one is that of tools. A table lives as long as whatever uses it.
using feature_table = std::span<const feature_kind>;

/// The kinds that mcpbx passes on.
feature_table feature_kinds();
/// The rows of kinds that have code of their own.
const feature_kind& tool_kind();
const feature_kind& prompt_kind();
const feature_kind& resource_kind();
const feature_kind& template_kind();

}  // namespace mcpbx::mcp::protocol

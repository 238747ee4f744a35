// Extensions of MCP and experimental capabilities: those that pass through mcpbx without further ado, and the methods
// that others bring. Such a method belongs to no tool, prompt or resource, so that no `deny`, no profile and no
// approval could hold for it: it passes if the configuration names it, or if no such rule is about its server.
#pragma once
#include "mcp/json/raw_json.hpp"

#include <array>
#include <functional>
#include <map>
#include <set>
#include <string>
#include <string_view>
#include <vector>

namespace mcpbx::mcp::protocol {

struct server_offers;

namespace extension {
/// Tasks of 2026-07-28; callers of that era only hear of them.
inline constexpr std::string_view tasks = "io.modelcontextprotocol/tasks";
/// MCP Apps: resources of the scheme `ui://` and `_meta.ui` of tools, which pass as all others do.
inline constexpr std::string_view apps = "io.modelcontextprotocol/ui";
}  // namespace extension

/// The extensions that pass whole and bring no result types which mcpbx would not know.
inline constexpr std::array carried_extensions{extension::apps, extension::tasks};

/// Returns true if the extension is one of these.
constexpr bool is_carried(std::string_view name) {
  for (const auto one : carried_extensions)
    if (one == name) return true;
  return false;
}

/// Patterns of methods that may pass between callers and one tool server, by the name of the extension or experimental
/// capability that brings them.
using extension_methods = std::map<std::string, std::vector<std::string>, std::less<>>;

/// Rules about the extensions of one tool server, by which their methods pass between it and callers.
struct extension_rules {
  extension_methods named = {};  ///< by its entry; one without patterns brings no methods
  /// The other extensions that the server lists are open: they pass with all their methods.
  bool open = false;
  /// Extensions whose methods belong to other servers, as their entries say. They are not open here.
  std::set<std::string, std::less<>> elsewhere = {};
  bool operator==(const extension_rules&) const = default;
};

/// Bounds on the open extensions of one server: their number, and the length of a name in bytes. Further ones are not
/// open.
inline constexpr std::size_t most_open_extensions = 64, longest_extension_name = 256;

/// Returns the names of the server's open extensions, sorted. Carried ones need no methods, and are none of them.
std::vector<std::string> open_extensions(const extension_rules& rules, const server_offers& offers);

/// Returns true for names that MCP and mcpbx keep for themselves: no extension can bring such a method or notification.
bool is_reserved_method(std::string_view method);
/// Returns true for a name that MCP's notifications have, and those of its extensions. A request without an id has
/// none, and would be a call that no audit has.
bool is_notification_name(std::string_view method);
/// Returns the names whose patterns match this method, sorted; none for a reserved one.
std::vector<std::string> extensions_with(const extension_methods& all, std::string_view method);
/// The same, together with the server's open extensions, which may bring any method.
std::vector<std::string> extensions_with(const extension_methods& all, const std::vector<std::string>& open,
                                         std::string_view method);
/// Returns true if a client's or server's capabilities list the name in `extensions` or in `experimental`. Capabilities
/// of a client of more than 64 KiB list none, here and below.
bool lists_extension(const json::raw_json& capabilities, std::string_view name);
bool lists_extension(const server_offers& offers, std::string_view name);
/// Returns the one of these sorted names that a client's capabilities list first, or "".
std::string_view first_listed(const json::raw_json& capabilities, const std::vector<std::string>& names);
inline bool lists_one_of(const json::raw_json& capabilities, const std::vector<std::string>& names) {
  return !first_listed(capabilities, names).empty();
}
/// Returns true if both ends list the same extension or experimental capability, other than carried ones.
bool share_extension(const json::raw_json& caller_capabilities, const server_offers& offers);

}  // namespace mcpbx::mcp::protocol

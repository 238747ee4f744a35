// Extensions of MCP and experimental capabilities: those that pass through mcpbx without further ado, and the methods
// that others bring. Such a method belongs to no tool, prompt or resource, so that no `deny`, no profile and no
// approval could hold for it: it passes only if the configuration names it.
#pragma once
#include "mcp/json/raw_json.hpp"

#include <array>
#include <functional>
#include <map>
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

/// Returns true for names that MCP and mcpbx keep for themselves: no extension can bring such a method or notification.
bool is_reserved_method(std::string_view method);
/// Returns true for a name that MCP's notifications have, and those of its extensions. A request without an id has
/// none, and would be a call that no audit has.
bool is_notification_name(std::string_view method);
/// Returns the names whose patterns match this method, in order; none for a reserved one.
std::vector<std::string> extensions_with(const extension_methods& all, std::string_view method);
/// Returns true if a client's or server's capabilities list the name in `extensions` or in `experimental`. Capabilities
/// of a client of more than 64 KiB list none, here and below.
bool lists_extension(const json::raw_json& capabilities, std::string_view name);
bool lists_extension(const server_offers& offers, std::string_view name);
bool lists_one_of(const json::raw_json& capabilities, const std::vector<std::string>& names);
/// Returns true if both ends list the same extension or experimental capability, other than carried ones.
bool share_extension(const json::raw_json& caller_capabilities, const server_offers& offers);

}  // namespace mcpbx::mcp::protocol

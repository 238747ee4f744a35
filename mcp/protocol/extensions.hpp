// The extensions of MCP that pass through mcpbx whole. An extension may bring methods and notifications of its own,
// which belong to no tool, prompt or resource, so that no rule of a profile could hold for them: they do not pass, and
// an extension that has some and is not in this list is not told to the other side.
#pragma once
#include <array>
#include <string_view>

namespace mcpbx::mcp {

namespace extension {
/// Tasks of 2026-07-28; callers of that era only hear of them.
inline constexpr std::string_view tasks = "io.modelcontextprotocol/tasks";
/// MCP Apps: resources of the scheme `ui://` and `_meta.ui` of tools, which pass as all others do.
inline constexpr std::string_view apps = "io.modelcontextprotocol/ui";
}  // namespace extension

inline constexpr std::array carried_extensions{extension::apps, extension::tasks};

/// Returns true if all that the extension brings passes.
constexpr bool is_carried(std::string_view name) {
  for (const auto one : carried_extensions)
    if (one == name) return true;
  return false;
}

}  // namespace mcpbx::mcp

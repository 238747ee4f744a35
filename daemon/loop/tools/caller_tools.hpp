// Checks the tools that a caller defines in its request (L21), and makes catalog entries of them.
#pragma once
#include "mcp/client/catalog/catalog.hpp"
#include "mcp/json/raw_json.hpp"
#include "mcp/support/error.hpp"

#include <string_view>
#include <vector>

namespace mcpbx::daemon::tools {

/// Returns an error (invalid_argument) unless the name is accepted by every API: 1 to 64 of [A-Za-z0-9_-], without the
/// prefix of mcpbx's own tools.
result<void> check_caller_tool_name(std::string_view name);

/// Checks one definition in MCP's form: its name as above, and an inputSchema that is an object. The message of the
/// error is a clause that the caller puts into a sentence.
result<void> check_caller_tool(const json::raw_json& definition);

/// Returns entries for checked definitions, in their order. They belong to no server: `server` is "".
std::vector<mcp::catalogs::entry_ptr> caller_entries(const std::vector<json::raw_json>& definitions);

inline bool is_caller_tool(const mcp::catalogs::catalog_entry& e) {
  return e.server.empty();
}

}  // namespace mcpbx::daemon::tools

// Tools that the caller of a run brings with its request (L21), as entries beside those of the catalog.
#pragma once
#include "mcp/client/catalog/catalog.hpp"
#include "mcp/json/raw_json.hpp"
#include "mcp/support/error.hpp"

#include <string_view>
#include <vector>

namespace mcpbx::daemon {

/// Whether a name is one that every API takes as it is: 1 to 64 of [A-Za-z0-9_-], not beginning as ours do.
result<void> check_caller_tool_name(std::string_view name);

/// One definition, checked: a name that every API takes as it is (1 to 64 of [A-Za-z0-9_-], not beginning as ours do),
/// and an inputSchema that is an object. The error says in one clause what is wrong.
result<void> check_caller_tool(const raw_json& definition);

/// Entries for checked definitions, in their order. They belong to no server: `server` is "".
std::vector<mcp::entry_ptr> caller_entries(const std::vector<raw_json>& definitions);

inline bool is_caller_tool(const mcp::catalog_entry& e) {
  return e.server.empty();
}

}  // namespace mcpbx::daemon

// Binds a person's approval of a tool call to the tool as it was shown, to the origin of its server, and to the
// arguments (docs/guarantees.md, G39). Pure.
#pragma once
#include "mcp/client/catalog/catalog.hpp"
#include "mcp/json/raw_json.hpp"

#include <string>

namespace mcpbx::daemon::guard {

/// Two SHA-256 hashes in hexadecimal. Equal hashes mean that the covered data has the same bytes.
struct approval_seal {
  std::string tool;       ///< covers the server's name and origin, its own name for the tool, and the definition
  std::string arguments;  ///< covers the arguments as they are sent
};
approval_seal seal_of(const mcp::catalogs::catalog_entry& tool, const json::raw_json& arguments);

/// Returns true if both entries are the same tool of the same server and origin, with the same bytes, under any name.
bool same_tool(const mcp::catalogs::catalog_entry& a, const mcp::catalogs::catalog_entry& b);

}  // namespace mcpbx::daemon::guard

// Binds a person's approval of a tool call to the tool as it was shown, to the origin of its server, and to the
// arguments (docs/guarantees.md, G39). Pure.
#pragma once
#include "mcp/client/catalog/catalog.hpp"
#include "mcp/json/raw_json.hpp"

#include <string>

namespace mcpbx::daemon {

/// SHA-256 in hexadecimal. Two of a kind are the same only if all that they cover has the same bytes.
struct approval_seal {
  std::string tool;       ///< of the server's name and origin, its own name for the tool, and its definition
  std::string arguments;  ///< of the arguments as they are sent
};
approval_seal seal_of(const mcp::catalog_entry& tool, const raw_json& arguments);

/// Whether both stand for what the same server, of the same origin, lists with the same bytes; under whatever name.
bool same_tool(const mcp::catalog_entry& a, const mcp::catalog_entry& b);

}  // namespace mcpbx::daemon

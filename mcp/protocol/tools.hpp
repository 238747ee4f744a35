// Tool definitions as servers list them: checked one by one, so that a bad one costs itself and no other
// (docs/guarantees.md, G15), and passed on as their own bytes.
#pragma once
#include "mcp/json/raw_json.hpp"
#include "mcp/support/error.hpp"

#include <string>

namespace mcpbx::mcp {

/// What mcpbx itself needs of a definition. Hints are what the server says of its tool, never to be trusted alone.
struct tool_view {
  std::string name;         ///< the server's own, 1 … 128 bytes without control characters
  raw_json definition;      ///< the server's bytes
  std::string description;  ///< unescaped; "" when there is none
  std::string title;        ///< annotations.title, else title, else ""
  bool read_only = false, destructive = true, idempotent = false, open_world = true;
};

/// Checks a definition by what every revision demands: name a string, inputSchema an object whose `type`, if any, is
/// "object" (or nothing, null or true, which say as little as an empty one); and what is optional has its kind, because
/// strict hosts refuse a whole list for one wrong member. The error says in one clause what is wrong and names the tool
/// when its name is readable.
result<tool_view> read_tool(raw_json definition);

}  // namespace mcpbx::mcp

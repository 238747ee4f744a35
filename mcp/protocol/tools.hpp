// Tool definitions as servers list them: checked one by one, so that a bad one costs itself and no other
// (docs/guarantees.md, G15), and passed on as their own bytes.
#pragma once
#include "mcp/json/raw_json.hpp"
#include "mcp/support/error.hpp"

#include <string>

namespace mcpbx::mcp {

/// The parts of a definition that mcpbx itself needs. The hints are claims of the server, never to be trusted alone.
struct tool_view {
  std::string name;         ///< the server's own, 1 … 128 bytes without control characters
  raw_json definition;      ///< the server's bytes
  std::string description;  ///< unescaped; "" when there is none
  std::string title;        ///< annotations.title, else title, else ""
  bool read_only = false, destructive = true, idempotent = false, open_world = true;
};

/// Checks a definition by the demands of all revisions: a name, an inputSchema that is an object of type "object" (or
/// absent, null or true), and optional members of the right kind, because strict hosts refuse a whole list for one
/// wrong member. The error is one clause, which names the tool if its name is readable.
result<tool_view> read_tool(raw_json definition);

}  // namespace mcpbx::mcp

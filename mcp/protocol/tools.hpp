// Tool definitions as servers list them: checked one by one, so that a bad one costs itself and no other
// (docs/guarantees.md, G15), and passed on as their own bytes.
#pragma once
#include "mcp/json/raw_json.hpp"
#include "mcp/protocol/features.hpp"
#include "mcp/support/error.hpp"

namespace mcpbx::mcp::protocol {

/// Checks a definition by the demands of all revisions: a name, an inputSchema that is an object of type "object" (or
/// absent, null or true), and optional members of the right kind, because strict hosts refuse a whole list for one
/// wrong member. The error is one clause, which names the tool if its name is readable.
result<feature_item> read_tool(json::raw_json definition);

}  // namespace mcpbx::mcp::protocol

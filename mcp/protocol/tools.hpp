// Tool definitions as servers list them: checked one by one, so that a bad one costs itself and no other
// (docs/guarantees.md, G15), and passed on as their own bytes.
#pragma once
#include "mcp/json/raw_json.hpp"
#include "mcp/protocol/features.hpp"
#include "mcp/support/error.hpp"

namespace mcpbx::mcp {

/// Checks a definition by what every revision demands: name a string, inputSchema an object whose `type`, if any, is
/// "object" (or nothing, null or true, which say as little as an empty one); and what is optional has its kind, because
/// strict hosts refuse a whole list for one wrong member. The error says in one clause what is wrong and names the tool
/// when its name is readable.
result<feature_item> read_tool(raw_json definition);

}  // namespace mcpbx::mcp

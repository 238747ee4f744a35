// Prompt definitions as servers list them, checked one by one (docs/guarantees.md, G15) and passed on as their own
// bytes.
#pragma once
#include "mcp/json/raw_json.hpp"
#include "mcp/protocol/features.hpp"
#include "mcp/support/error.hpp"

namespace mcpbx::mcp::protocol {

/// Checks a definition by the demands of all revisions (2025-11-25, prompts, "Prompt"): a name, arguments that have
/// names, and optional members of the right type, because strict hosts refuse a whole list for one wrong member. The
/// error is one clause, which names the prompt if its name is readable.
result<feature_item> read_prompt(json::raw_json definition);

}  // namespace mcpbx::mcp::protocol

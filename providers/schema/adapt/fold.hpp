// Removes combinators at the top of a schema (anyOf, oneOf, allOf, not, enum), which chat-completions servers refuse:
// it merges the properties of their branches and expresses the condition in words.
#pragma once
#include "mcp/json/raw_json.hpp"

#include <string>

namespace mcpbx::providers::adapt {

/// Edits `schema`, a copy of `root`, which local references refer to. Returns the condition for the description, or "".
std::string fold_combinators(json::raw_object& schema, const json::raw_json& root);

}  // namespace mcpbx::providers::adapt

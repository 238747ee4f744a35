// Combinators at the top of a schema (anyOf, oneOf, allOf, not, enum), which chat-completions servers refuse: their
// branches' properties are merged and the condition is said in words.
#pragma once
#include "mcp/json/raw_json.hpp"

#include <string>

namespace mcpbx::providers {

/// Edits `schema`, whose original is `root` (for local references). Returns the condition for the description, or "".
std::string fold_combinators(raw_object& schema, const raw_json& root);

}  // namespace mcpbx::providers

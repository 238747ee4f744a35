// Decides if a schema may be sent as `strict` (structured outputs). Schemas are never rewritten for that: an optional
// argument made nullable would be another argument to the tool.
#pragma once
#include <string_view>

namespace mcpbx::providers {

/// Returns true if `schema` (checked) fulfils the demands of strict mode: it is an object; all objects forbid further
/// properties and require their own; every value has a type; at most ten levels; only known keywords. One refused
/// schema fails the whole request, so doubts give false. `api` is "anthropic", or one with the rules of OpenAI.
bool is_strict_schema(std::string_view schema, std::string_view api);

}  // namespace mcpbx::providers

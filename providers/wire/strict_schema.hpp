// Decides if a schema may be sent as `strict` (structured outputs). Schemas are never rewritten for that: an optional
// argument made nullable would be another argument to the tool.
#pragma once
#include <cstdint>
#include <string_view>

namespace mcpbx::providers::wire {

/// Demands of strict mode, by the API that makes them.
enum class strict_rules : std::uint8_t { openai, anthropic };

/// Returns true if `schema` (checked) fulfils the demands of strict mode: it is an object; all objects forbid further
/// properties and require their own; every value has a type; at most ten levels; only known keywords. One refused
/// schema fails the whole request, so doubts give false.
bool is_strict_schema(std::string_view schema, strict_rules rules);

}  // namespace mcpbx::providers::wire

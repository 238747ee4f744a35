// Fast check for schemas that need no repair, as most do. It touches each byte once.
#pragma once
#include <string_view>

namespace mcpbx::providers::adapt {

/// Returns true if every keyword in `schema` (one checked JSON value) has a value of its kind (keywords.hpp),
/// properties are objects and arrays have items, so that adapt_tool() keeps the bytes. Returns false for rare forms as
/// well, such as names with escapes, which the slow walk checks. Stops below `levels` of schemas.
bool is_sound(std::string_view schema, int levels);

}  // namespace mcpbx::providers::adapt

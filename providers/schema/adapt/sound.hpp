// Whether there is anything to mend in a schema: what most schemas cost, so a walk that touches each byte once.
#pragma once
#include <string_view>

namespace mcpbx::providers {

/// Whether each value in `schema` (one checked JSON value) is what its keyword demands (keywords.hpp), schemas that
/// stand for properties are objects, and arrays say of what: then adapt_tool() passes its bytes as they are. False also
/// for what is rare and left to be looked at member by member, such as names with escapes. Below `levels` of schemas
/// nothing is looked at.
bool is_sound(std::string_view schema, int levels);

}  // namespace mcpbx::providers

// One text for all spellings of a JSON value, so that what is hashed or compared does not change with blanks, escapes
// or the order of members. Pure.
#pragma once
#include "mcp/json/raw_json.hpp"

#include <string>

namespace mcpbx {

/// `value` without blanks, members sorted by the bytes of their keys (duplicates stay, in their order), strings with no
/// escape that is not needed. Numbers keep their digits, for 1 and 1.0 are not the same to everybody; strings with half
/// a surrogate pair and what is nested deeper than 256 levels keep their bytes.
std::string canonical_json(const raw_json& value);

}  // namespace mcpbx

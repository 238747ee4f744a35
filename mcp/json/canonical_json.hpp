// Brings JSON into a canonical form, so that hashes and comparisons do not depend on blanks, escapes or member order.
#pragma once
#include "mcp/json/raw_json.hpp"

#include <string>

namespace mcpbx::json {

/// Returns `value` without blanks, with members sorted by the bytes of their keys (duplicates keep their order), and
/// strings without needless escapes. Numbers keep their digits, since 1 and 1.0 differ for some programs. Strings with
/// half a surrogate pair and values below 256 levels keep their bytes.
std::string canonical_json(const raw_json& value);

}  // namespace mcpbx::json

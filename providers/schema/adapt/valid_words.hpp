// Repairs keywords whose values JSON Schema 2020-12 does not allow: an API that checks schemas against the standard
// refuses the whole request because of one.
#pragma once
#include "mcp/json/raw_json.hpp"

namespace mcpbx::providers::adapt {

/// Removes such keywords from one level of a schema, or repairs them if the intent is clear (`exclusiveMinimum: true`
/// of draft 4, duplicates in `required`). Leaves subschemas to the caller, and valid schemas as they are.
void mend_words(json::raw_object& schema);

}  // namespace mcpbx::providers::adapt

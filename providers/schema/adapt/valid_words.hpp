// Keywords with values that JSON Schema 2020-12 does not allow: an API that checks schemas against the standard refuses
// the whole request for one of them.
#pragma once
#include "mcp/json/raw_json.hpp"

namespace mcpbx::providers {

/// Takes such keywords out of one level of a schema, or mends them where it is clear what was meant (a draft-4
/// `exclusiveMinimum: true`, double names in `required`). Subschemas are left to the caller, but for those that are
/// none at all. Nothing is touched in a valid schema.
void mend_words(raw_object& schema);

}  // namespace mcpbx::providers

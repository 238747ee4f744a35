// Rewrites schemas for APIs that support only a part of JSON Schema: resolves references, merges `allOf`, and moves
// unsupported conditions into the description, where the model can still read them.
#pragma once
#include "mcp/json/raw_json.hpp"
#include "providers/wire/api_description.hpp"

#include <string_view>

namespace mcpbx::providers {

/// Rewrites `schema` (checked) with the keywords of `rules`. Resolves local references, recursive ones three times. Any
/// value is allowed behind that, for other references, below 32 levels, above 256 KiB of result and above 32 MiB of
/// reading; the description names the expected form where it is known.
raw_json reduce_schema(const raw_json& schema, const schema_rules& rules);

/// Returns the input schema of an adapted tool (adapt.hpp) for `api`: the same bytes for APIs with full JSON Schema.
raw_json schema_for(std::string_view api, const raw_json& schema);

}  // namespace mcpbx::providers

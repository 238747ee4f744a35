// Rewrites schemas for APIs that support only a part of JSON Schema: resolves references, merges `allOf`, and moves
// unsupported conditions into the description, where the model can still read them.
#pragma once
#include "mcp/json/raw_json.hpp"
#include "providers/wire/api_description.hpp"

#include <string_view>

namespace mcpbx::providers::adapt {

/// Rewrites `schema` (checked) with the keywords of `rules`. Resolves local references, recursive ones three times. Any
/// value is allowed behind that, for other references, below 32 levels, above 256 KiB of result and above 32 MiB of
/// reading; the description names the expected form where it is known.
json::raw_json reduce_schema(const json::raw_json& schema, const wire::schema_rules& rules);

/// Returns the input schema of an adapted tool (adapt.hpp) for `api`: the same bytes for APIs with full JSON Schema.
json::raw_json schema_for(std::string_view api, const json::raw_json& schema);

}  // namespace mcpbx::providers::adapt

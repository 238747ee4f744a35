// Schemas for APIs that know only a part of JSON Schema: references are resolved, `allOf` is merged, and what the API
// would refuse or lose goes into the description, so that the model reads it all the same.
#pragma once
#include "mcp/json/raw_json.hpp"

#include <span>
#include <string_view>

namespace mcpbx::providers {

/// What an API knows beside `type`, `description`, `enum`, `items`, `properties`, `required` and `anyOf`.
struct api_words {
  std::span<const std::string_view> kept;  ///< further keywords, passed as they are
  bool prefix_items = false;
  bool additional_properties = false;
  bool plain_enums = false;  ///< enums hold texts and numbers only
};

/// `schema` (checked) in those words. Local references are resolved (recursive ones three times, then any value is
/// allowed and the description says what it is), others allow any value; below 32 levels, above 256 KiB of result or 32
/// MiB of reading, too.
raw_json reduce_schema(const raw_json& schema, const api_words& words);

/// Gemini's `parametersJsonSchema`.
const api_words& gemini_schema();
/// Ollama's tool parameters, which it reads into a fixed structure.
const api_words& ollama_schema();

/// The input schema of an adapted tool (adapt.hpp) as `api` takes it: the same bytes for APIs that take JSON Schema.
raw_json schema_for(std::string_view api, const raw_json& schema);

}  // namespace mcpbx::providers

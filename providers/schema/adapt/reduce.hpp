// Rewrites schemas for APIs that support only a part of JSON Schema: resolves references, merges `allOf`, and moves
// unsupported conditions into the description, where the model can still read them.
#pragma once
#include "mcp/json/raw_json.hpp"

#include <span>
#include <string_view>

namespace mcpbx::providers {

/// Keywords that an API supports beside `type`, `description`, `enum`, `items`, `properties`, `required` and `anyOf`.
struct api_words {
  std::span<const std::string_view> kept;  ///< further keywords, passed as they are
  bool prefix_items = false;
  bool additional_properties = false;
  bool plain_enums = false;  ///< enums hold texts and numbers only
};

/// Rewrites `schema` (checked) with those keywords. Resolves local references, recursive ones three times. Any value is
/// allowed behind that, for other references, below 32 levels, above 256 KiB of result and above 32 MiB of reading; the
/// description names the expected form where it is known.
raw_json reduce_schema(const raw_json& schema, const api_words& words);

/// Returns the keywords of Gemini's `parametersJsonSchema`.
const api_words& gemini_schema();
/// Returns the keywords of Ollama's tool parameters, which it reads into a fixed structure.
const api_words& ollama_schema();

/// Returns the input schema of an adapted tool (adapt.hpp) for `api`: the same bytes for APIs with full JSON Schema.
raw_json schema_for(std::string_view api, const raw_json& schema);

}  // namespace mcpbx::providers

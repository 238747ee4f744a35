// Tables of the keywords that each API with a part of JSON Schema supports.
#include "providers/schema/adapt/reduce.hpp"

#include <array>

namespace mcpbx::providers {

const api_words& gemini_schema() {
  static constexpr std::array<std::string_view, 6> kept{"title",    "format",  "minItems",
                                                        "maxItems", "minimum", "maximum"};
  static constexpr api_words words{kept, true, true, true};
  return words;
}

const api_words& ollama_schema() {
  static constexpr api_words words{};
  return words;
}

raw_json schema_for(std::string_view api, const raw_json& schema) {
  if (api == "gemini") return reduce_schema(schema, gemini_schema());
  if (api == "ollama") return reduce_schema(schema, ollama_schema());
  return schema;
}

}  // namespace mcpbx::providers

// The description of Gemini's API.
#include "providers/wire/gemini/gemini.hpp"

#include <array>

namespace mcpbx::providers::gemini {
namespace {

constexpr wire::tool_form gemini_tools{
    .name = gemini::api, .shape = wire::tool_shape::plain, .schema = "parametersJsonSchema", .empty_description = true};

constexpr std::array<std::string_view, 6> kept_keywords{"title",    "format",  "minItems",
                                                        "maxItems", "minimum", "maximum"};

result<wire::wire_request> encode_gemini_list(const wire::wire_options& options) {
  return wire::model_list_request(options, "", "/models", "pageSize=1000");
}

// Ids are paths; an entry names the model alone.
result<wire::model_list> decode_gemini_list(std::string_view body) {
  return wire::read_model_list(body, "models/");
}

}  // namespace

const wire::api_description& gemini_api() {
  static constexpr wire::api_description api{.name = gemini::api,
                                             .base_url = "https://generativelanguage.googleapis.com/v1beta",
                                             .key = {.name = "x-goog-api-key", .prefix = ""},
                                             .tools = gemini_tools,
                                             .schema = {.partial = true,
                                                        .kept = kept_keywords,
                                                        .prefix_items = true,
                                                        .additional_properties = true,
                                                        .plain_enums = true},
                                             .encode_model_list = encode_gemini_list,
                                             .decode_model_list = decode_gemini_list,
                                             .get_codec = wire::shared_codec<gemini>};
  return api;
}

}  // namespace mcpbx::providers::gemini

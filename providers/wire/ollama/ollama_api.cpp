// The description of Ollama's own API.
#include "providers/wire/ollama/ollama.hpp"

namespace mcpbx::providers::ollama {
namespace {

constexpr wire::tool_form ollama_tools{
    .name = ollama::api, .shape = wire::tool_shape::nested, .schema = "parameters", .empty_description = true};

result<wire::wire_request> encode_ollama_list(const wire::wire_options& options) {
  return wire::model_list_request(options, "/api", "/tags");
}

}  // namespace

const wire::api_description& ollama_api() {
  static constexpr wire::api_description api{.name = ollama::api,
                                             .base_url = "http://127.0.0.1:11434",
                                             .lost_calls = wire::call_loss::always,
                                             .tools = ollama_tools,
                                             // Ollama reads schemas into a fixed structure.
                                             .schema = {.partial = true},
                                             .encode_model_list = encode_ollama_list,
                                             .get_codec = wire::shared_codec<ollama>};
  return api;
}

}  // namespace mcpbx::providers::ollama

// The description of Anthropic's Messages API.
#include "providers/wire/anthropic/anthropic.hpp"
#include "providers/wire/encoding.hpp"

namespace mcpbx::providers {
namespace {

constexpr tool_form anthropic_tools{.name = anthropic::api,
                                    .shape = tool_shape::plain,
                                    .schema = "input_schema",
                                    .strict = strict_mark::only_true,
                                    .rules = strict_rules::anthropic};

// Other servers of this API may not know the members.
void apply_anthropic_dialect(wire_options& options) {
  options.answer_schema = options.takes_strict = host_of(options.base_url) == "api.anthropic.com";
}

result<wire_request> encode_anthropic_list(const wire_options& options) {
  auto r = model_list_request(options, "/v1", "/models", "limit=1000");
  r.headers.emplace_back("anthropic-version",
                         options.api_version.empty() ? std::string(anthropic::usual_version) : options.api_version);
  return r;
}

}  // namespace

const api_description& anthropic_api() {
  static constexpr api_description api{.name = anthropic::api,
                                       .base_url = "https://api.anthropic.com",
                                       // Keys and the tokens that a log-in gives go into different headers.
                                       .key = {.name = "x-api-key", .prefix = "", .token_start = "sk-ant-oat"},
                                       .tools = anthropic_tools,
                                       .schema = {.plain_argument_names = true},
                                       .apply_dialect = apply_anthropic_dialect,
                                       .encode_model_list = encode_anthropic_list,
                                       .get_codec = shared_codec<anthropic>};
  return api;
}

}  // namespace mcpbx::providers

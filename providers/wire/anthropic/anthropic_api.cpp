// The description of Anthropic's Messages API.
#include "providers/wire/anthropic/anthropic.hpp"
#include "providers/wire/encoding.hpp"

namespace mcpbx::providers::anthropic {
namespace {

constexpr wire::tool_form anthropic_tools{.name = anthropic::api,
                                          .shape = wire::tool_shape::plain,
                                          .schema = "input_schema",
                                          .strict = wire::strict_mark::only_true,
                                          .rules = wire::strict_rules::anthropic};

// Other servers of this API may not know the members.
void apply_anthropic_dialect(wire::wire_options& options) {
  options.answer_schema = options.takes_strict = wire::host_of(options.base_url) == "api.anthropic.com";
}

result<wire::wire_request> encode_anthropic_list(const wire::wire_options& options) {
  auto r = wire::model_list_request(options, "/v1", "/models", "limit=1000");
  r.headers.emplace_back("anthropic-version",
                         options.api_version.empty() ? std::string(anthropic::usual_version) : options.api_version);
  return r;
}

}  // namespace

const wire::api_description& anthropic_api() {
  static constexpr wire::api_description api{.name = anthropic::api,
                                             .base_url = "https://api.anthropic.com",
                                             // Keys and the tokens that a log-in gives go into different headers.
                                             .key = {.name = "x-api-key", .prefix = "", .token_start = "sk-ant-oat"},
                                             .tools = anthropic_tools,
                                             .schema = {.plain_argument_names = true},
                                             .apply_dialect = apply_anthropic_dialect,
                                             .encode_model_list = encode_anthropic_list,
                                             .get_codec = wire::shared_codec<anthropic>};
  return api;
}

}  // namespace mcpbx::providers::anthropic

// The descriptions of OpenAI's APIs, and of Azure and DIAL, which have Chat Completions at the address of a deployment.
#include "providers/wire/openai/openai_apis.hpp"

#include "providers/wire/openai/dialects.hpp"
#include "providers/wire/openai/openai_chat.hpp"
#include "providers/wire/openai/openai_responses.hpp"

namespace mcpbx::providers::openai {
namespace {

constexpr std::string_view openai_base_url = "https://api.openai.com/v1";

// OpenAI and services that copied its API refuse more tools.
constexpr std::size_t openai_max_tools = 128;

constexpr wire::tool_form chat_tools{.name = openai_chat::api,
                                     .shape = wire::tool_shape::nested,
                                     .schema = "parameters",
                                     .strict = wire::strict_mark::when_told};

constexpr wire::tool_form responses_tools{.name = openai_responses::api,
                                          .shape = wire::tool_shape::typed,
                                          .schema = "parameters",
                                          .strict = wire::strict_mark::always};

result<wire::wire_request> encode_openai_list(const wire::wire_options& options) {
  return wire::model_list_request(options, "", "/models");
}

result<wire::wire_request> encode_dial_list(const wire::wire_options& options) {
  return wire::model_list_request(options, "/openai", "/models");
}

result<wire::wire_request> encode_azure_list(const wire::wire_options&) {
  return fail(errc::invalid_argument,
              "Azure OpenAI tells a key nothing about its deployments; the Azure portal lists them.");
}

const wire::codec& dial_codec() {
  static const openai_chat made("dial", true);
  return made;
}

const wire::codec& azure_codec() {
  static const openai_chat made("azure", true);
  return made;
}

}  // namespace

const wire::api_description& openai_chat_api() {
  static constexpr wire::api_description api{.name = openai_chat::api,
                                             .base_url = openai_base_url,
                                             .max_tools = openai_max_tools,
                                             .lost_calls = wire::call_loss::at_other_addresses,
                                             .tools = chat_tools,
                                             .apply_dialect = apply_chat_dialect,
                                             .encode_model_list = encode_openai_list,
                                             .get_codec = wire::shared_codec<openai_chat>};
  return api;
}

const wire::api_description& openai_responses_api() {
  static constexpr wire::api_description api{.name = openai_responses::api,
                                             .base_url = openai_base_url,
                                             .max_tools = openai_max_tools,
                                             .tools = responses_tools,
                                             .apply_dialect = apply_responses_dialect,
                                             .encode_model_list = encode_openai_list,
                                             .get_codec = wire::shared_codec<openai_responses>};
  return api;
}

const wire::api_description& dial_api() {
  static constexpr wire::api_description api{.name = "dial",
                                             .dialect_of = openai_chat::api,
                                             .max_tools = openai_max_tools,
                                             .key = {.name = "Api-Key", .prefix = "", .replaced_by_token = true},
                                             .tools = chat_tools,
                                             .apply_dialect = apply_dial_dialect,
                                             .encode_model_list = encode_dial_list,
                                             .get_codec = dial_codec};
  return api;
}

const wire::api_description& azure_api() {
  static constexpr wire::api_description api{.name = "azure",
                                             .dialect_of = openai_chat::api,
                                             .max_tools = openai_max_tools,
                                             .key = {.name = "api-key", .prefix = "", .replaced_by_token = true},
                                             .tools = chat_tools,
                                             .apply_dialect = apply_azure_dialect,
                                             .encode_model_list = encode_azure_list,
                                             .get_codec = azure_codec};
  return api;
}

}  // namespace mcpbx::providers::openai

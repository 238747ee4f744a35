// Codec of the OpenAI Responses API (openai/openai-openapi, POST /responses), used statelessly: OpenAI stores nothing,
// so all output items are sent back, encrypted reasoning included.
#pragma once
#include "providers/wire/codec.hpp"

namespace mcpbx::providers::openai {

class openai_responses final : public wire::codec {
 public:
  static constexpr std::string_view api = "openai-responses";

  wire::wire_request encode(const model_request& request, const wire::wire_options& options) const override;
  std::unique_ptr<wire::stream_decoder> make_decoder(std::string_view content_type, const wire::wire_options& options,
                                                     const model_request* request = nullptr) const override;
  model_error decode_error(int status, std::string_view body, const wire::wire_options& options) const override;
};

}  // namespace mcpbx::providers::openai

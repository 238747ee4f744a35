// Codec of the OpenAI Responses API (openai/openai-openapi, POST /responses), used statelessly: OpenAI stores nothing,
// so all output items are sent back, encrypted reasoning included.
#pragma once
#include "providers/wire/codec.hpp"

namespace mcpbx::providers {

class openai_responses final : public codec {
 public:
  static constexpr std::string_view api = "openai-responses";

  wire_request encode(const model_request& request, const wire_options& options) const override;
  std::unique_ptr<stream_decoder> make_decoder(std::string_view content_type, const wire_options& options,
                                               const model_request* request = nullptr) const override;
  model_error decode_error(int status, std::string_view body, const wire_options& options) const override;
};

}  // namespace mcpbx::providers

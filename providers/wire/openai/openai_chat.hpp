// Codec of the OpenAI Chat Completions API and of the many servers that implement it, such as Azure OpenAI and EPAM
// DIAL.
#pragma once
#include "providers/wire/codec.hpp"

namespace mcpbx::providers::openai {

class openai_chat final : public wire::codec {
 public:
  static constexpr std::string_view api = "openai-chat";

  /// `name` is the API that the codec stands for. `deployments`: it is at the address of the model's deployment.
  explicit openai_chat(std::string_view name = api, bool deployments = false)
      : name_(name), deployments_(deployments) {}

  wire::wire_request encode(const model_request& request, const wire::wire_options& options) const override;
  std::unique_ptr<wire::stream_decoder> make_decoder(std::string_view content_type, const wire::wire_options& options,
                                                     const model_request* request = nullptr) const override;
  model_error decode_error(int status, std::string_view body, const wire::wire_options& options) const override;

 private:
  std::string_view name_;
  bool deployments_;
};

}  // namespace mcpbx::providers::openai

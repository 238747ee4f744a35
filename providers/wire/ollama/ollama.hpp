// Codec of Ollama's own chat API (/api/chat), which streams newline-delimited JSON.
#pragma once
#include "providers/wire/api_description.hpp"

namespace mcpbx::providers::ollama {

class ollama final : public wire::codec {
 public:
  static constexpr std::string_view api = "ollama";

  wire::wire_request encode(const model_request& request, const wire::wire_options& options) const override;
  std::unique_ptr<wire::stream_decoder> make_decoder(std::string_view content_type, const wire::wire_options& options,
                                                     const model_request* request = nullptr) const override;
  model_error decode_error(int status, std::string_view body, const wire::wire_options& options) const override;
};

const wire::api_description& ollama_api();

}  // namespace mcpbx::providers::ollama

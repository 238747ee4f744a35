// Codec of Gemini's generateContent API (v1beta), streaming. A model's own turn is echoed as received, so that thought
// signatures stay on their parts.
#pragma once
#include "providers/wire/api_description.hpp"

namespace mcpbx::providers::gemini {

class gemini final : public wire::codec {
 public:
  static constexpr std::string_view api = "gemini";

  wire::wire_request encode(const model_request& request, const wire::wire_options& options) const override;
  std::unique_ptr<wire::stream_decoder> make_decoder(std::string_view content_type, const wire::wire_options& options,
                                                     const model_request* request = nullptr) const override;
  model_error decode_error(int status, std::string_view body, const wire::wire_options& options) const override;
};

const wire::api_description& gemini_api();

}  // namespace mcpbx::providers::gemini

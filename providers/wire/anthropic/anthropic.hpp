// The codec of the Anthropic Messages API (platform.claude.com/docs, version 2026-10-21; older ones as configured).
#pragma once
#include "providers/wire/api_description.hpp"

namespace mcpbx::providers::anthropic {

class anthropic final : public wire::codec {
 public:
  static constexpr std::string_view api = "anthropic";
  /// Default of the header `anthropic-version`. From this version on the API refuses sampling members.
  static constexpr std::string_view usual_version = "2026-10-21";
  /// Default of `max_tokens`, a member that the API requires.
  static constexpr std::int64_t usual_max_tokens = 16'384;

  wire::wire_request encode(const model_request& request, const wire::wire_options& options) const override;
  std::unique_ptr<wire::stream_decoder> make_decoder(std::string_view content_type, const wire::wire_options& options,
                                                     const model_request* request = nullptr) const override;
  model_error decode_error(int status, std::string_view body, const wire::wire_options& options) const override;
};

const wire::api_description& anthropic_api();

}  // namespace mcpbx::providers::anthropic

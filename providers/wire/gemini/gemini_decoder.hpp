// Push decoder of Gemini's answers. Each event is a whole response with the new parts. There is no end mark: a finish
// reason and the end of the bytes are the end.
#pragma once
#include "providers/wire/answer_decoder.hpp"
#include "providers/wire/string_joiner.hpp"

#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace mcpbx::providers::gemini {

class gemini_decoder final : public wire::event_decoder {
 public:
  /// `api` becomes the api of the reply's origin. `request` as for codec::make_decoder().
  gemini_decoder(std::string api, std::string content_type, wire::wire_options options, const model_request* request)
      : wire::event_decoder(std::move(api), std::move(content_type), std::move(options), request) {}

  bool finish_seen() const override { return !finish_reason_.empty(); }

 protected:
  std::size_t kept_bytes() const override { return bytes_ + text_.capacity(); }
  void take_event(std::string_view name, std::string_view json, wire::decoder_sink& sink) override;
  void take_body(std::string_view json, wire::decoder_sink& sink) override;
  void take_stream_end(bool mark, wire::decoder_sink& sink) override;
  std::string partial_text(wire::decoder_sink&) override { return text_; }

 private:
  // A part as it came, or several joined ones that hold nothing but text.
  struct part {
    enum class kind : std::uint8_t { text, thought, call, other };
    kind type = kind::other;
    bool plain = false;  // nothing but text: the next plain part is appended
    std::string text;    // content of text and thought
    std::string json;    // as received, unless plain
  };

  void take_response(std::string_view response, wire::decoder_sink& sink);
  void take_part(std::string_view json, wire::decoder_sink& sink);
  void take_usage(std::string_view used);
  // Drops the last call, which may be incomplete. Returns true if there was one.
  bool drop_last_call();
  void end(wire::decoder_sink& sink);
  json::raw_json assembled() const;

  std::vector<part> parts_;
  wire::string_joiner text_joiner_, thought_joiner_;
  std::string text_, finish_reason_, finish_message_, block_reason_;
  usage usage_;
  std::size_t bytes_ = 0;  // size of all parts, for an estimate of tokens
  bool usage_seen_ = false, candidate_seen_ = false;
};

}  // namespace mcpbx::providers::gemini

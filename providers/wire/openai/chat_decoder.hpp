// Push decoder of chat-completions answers: a stream of chunks, one JSON body, or an error in either form. It ends in
// exactly one reply or error, and an answer without an end is an error.
#pragma once
#include "mcp/support/text_parts.hpp"
#include "providers/wire/answer_decoder.hpp"
#include "providers/wire/openai/chat_calls.hpp"
#include "providers/wire/openai/chat_delta.hpp"
#include "providers/wire/string_joiner.hpp"
#include "providers/wire/thought_splitter.hpp"

#include <string>
#include <string_view>
#include <utility>

namespace mcpbx::providers::openai {

class chat_decoder final : public wire::event_decoder {
 public:
  /// `api` becomes the api of the reply's origin. `request` as for codec::make_decoder().
  chat_decoder(std::string api, std::string content_type, wire::wire_options options, const model_request* request)
      : wire::event_decoder(std::move(api), std::move(content_type), std::move(options), request) {}

  bool finish_seen() const override { return finished_; }

 private:
  std::size_t kept_bytes() const override {
    return content_.capacity() + text_.capacity() + reasoning_.capacity() + refusal_.capacity() + calls_.bytes();
  }
  void take_event(std::string_view name, std::string_view json, wire::decoder_sink& sink) override;
  void take_body(std::string_view json, wire::decoder_sink& sink) override;
  void take_stream_end(bool mark, wire::decoder_sink& sink) override;
  std::string partial_text(wire::decoder_sink& sink) override;
  // Takes a checked chunk or body.
  void take_object(std::string_view object, bool whole, wire::decoder_sink& sink);
  void take_choice(std::string_view choice, bool whole, wire::decoder_sink& sink);
  void take_delta(std::string_view delta, wire::decoder_sink& sink);
  void take_content(std::string_view content, wire::decoder_sink& sink);
  void take_usage(std::string_view usage);
  void add_text(std::string_view text, wire::decoder_sink& sink);
  void add_reasoning(std::string_view text, wire::decoder_sink& sink);
  void add_pieces(const wire::thought_splitter::pieces& pieces, wire::decoder_sink& sink);
  void end(wire::decoder_sink& sink);
  json::raw_json assembled(const call_assembler::finished& calls, std::string_view text) const;

  wire::thought_splitter thoughts_;
  text_parts text_;
  std::string content_;  // content as sent, thoughts included; empty if it equals the text
  std::string reasoning_, refusal_, finish_reason_;
  wire::string_joiner content_joiner_, reasoning_joiner_, refusal_joiner_;
  vendor_fields vendor_;
  call_assembler calls_;
  usage usage_;
  bool usage_seen_ = false, finished_ = false, choices_seen_ = false, deltas_ = false, refused_ = false;
};

}  // namespace mcpbx::providers::openai

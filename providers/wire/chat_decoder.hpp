// The push decoder of chat-completions answers: a stream of chunks, one JSON body, or an error in either's clothes.
// All or nothing: it ends in exactly one reply or one error, and an answer without its end is an error.
#pragma once
#include "mcp/support/json_scanner.hpp"
#include "mcp/support/sse_parser.hpp"
#include "providers/model/json_walk.hpp"
#include "providers/wire/chat_calls.hpp"
#include "providers/wire/chat_delta.hpp"
#include "providers/wire/codec.hpp"

#include <memory>

namespace mcpbx::providers {

class chat_decoder final : public stream_decoder {
 public:
  /// `api` is what the reply's origin is called. `request` as in codec::make_decoder.
  chat_decoder(std::string api, std::string content_type, wire_options options, const model_request* request);

  void feed(std::string_view bytes, decoder_sink& sink) override;
  void finish(decoder_sink& sink) override;
  bool done() const override { return state_ == state::ended; }
  bool finish_seen() const override { return finished_; }

 private:
  enum class state : std::uint8_t { start, stream, json, ended };
  enum class think : std::uint8_t { start, inside, after, outside };

  void take_event(const sse_parser::event& event, decoder_sink& sink);
  // A checked chunk or body.
  void take_object(std::string_view object, bool whole, decoder_sink& sink);
  void take_choice(std::string_view choice, bool whole, decoder_sink& sink);
  void take_delta(std::string_view delta, decoder_sink& sink);
  void take_content(std::string_view content, decoder_sink& sink);
  void take_usage(std::string_view usage);
  void add_text(std::string_view text, decoder_sink& sink);
  void add_reasoning(std::string_view text, decoder_sink& sink);
  void split_thoughts(decoder_sink& sink, bool last);
  void end(decoder_sink& sink);
  void fail(model_error::kind type, std::string message, decoder_sink& sink);
  void fail(model_error e, decoder_sink& sink);
  raw_json assembled(const call_assembler::finished& calls) const;

  std::string api_, content_type_;
  wire_options options_;
  const model_request* request_;
  state state_ = state::start;
  think think_ = think::start;
  sse_parser sse_;
  json_scanner scanner_;
  std::string body_;     // of a JSON answer; before that, blanks that came first
  std::string content_;  // as sent, thoughts included
  std::string held_;     // content that may be the beginning of a <think> or </think> mark
  std::string text_, reasoning_, refusal_, finish_reason_;
  string_joiner content_joiner_, reasoning_joiner_, refusal_joiner_;
  vendor_fields vendor_;
  call_assembler calls_;
  usage usage_;
  bool usage_seen_ = false, finished_ = false, choices_seen_ = false, refused_ = false;
};

}  // namespace mcpbx::providers

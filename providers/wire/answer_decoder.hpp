// What the decoders of all APIs share: one JSON body or a stream of server-sent events is told apart by what comes,
// each value is checked before it is read, errors read alike, and there is exactly one end.
#pragma once
#include "mcp/json/json_scanner.hpp"
#include "mcp/support/sse_parser.hpp"
#include "providers/wire/api_errors.hpp"
#include "providers/wire/codec.hpp"
#include "providers/wire/finished_calls.hpp"

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>

namespace mcpbx::providers {

/// A decoder's end: exactly one reply or one error.
class answer_decoder : public stream_decoder {
 public:
  bool done() const final { return ended_; }
  bool finish_seen() const override { return false; }

 protected:
  /// `api` is what the reply's origin is called. `request` as in codec::make_decoder.
  answer_decoder(std::string api, std::string content_type, wire_options options, const model_request* request);

  const wire_options& options() const { return options_; }
  call_ids& ids() { return ids_; }
  /// The name of the tool that is called by `written`: what stands behind a namespace where only that is a tool's.
  std::string called_name(std::string written) const;
  /// The assistant message to be filled, with its origin.
  std::shared_ptr<message> new_message() const;
  /// About four bytes to a token, for an API that counted nothing; the shell knows the request's size and adds that.
  static usage estimated(std::size_t answer_bytes);

  /// A string value as a view, for words that are compared: into `value` where it has no escapes, else into `held`.
  static std::string_view word_of(std::string_view value, std::string& held);
  /// The text that was told so far, for an error. What is still held back may be told now.
  virtual std::string partial_text(decoder_sink& sink) = 0;
  void succeed(model_reply reply, decoder_sink& sink);
  /// "The model … at … " and `message`. `raw` is what was sent, for the log.
  void fail(model_error::kind type, std::string_view message, decoder_sink& sink, std::string_view raw = {});
  /// An error that the answer reports; `raw` is said when `said` has no words.
  void fail(const error_body& said, std::string_view raw, decoder_sink& sink);
  /// An answer that is none of this API.
  void fail_foreign(std::string_view bytes, decoder_sink& sink);
  void fail_cut(decoder_sink& sink);
  /// "The model … at … ", `message` and the mend of answers that were cut off.
  void fail_cut(std::string_view message, decoder_sink& sink);
  /// The end mark came, but nothing had said why the model stopped: the official clients take that for a fault, too.
  void fail_unfinished(decoder_sink& sink);
  /// In the log: the last call of an answer is left out because the answer was cut there.
  void warn_cut_call() const;

 private:
  void fail(model_error e, decoder_sink& sink);
  std::string api_, content_type_;
  wire_options options_;
  const model_request* request_;
  call_ids ids_;
  bool ended_ = false;
};

/// Server-sent events, or one JSON body where a stream was asked for.
class event_decoder : public answer_decoder {
 public:
  void feed(std::string_view bytes, decoder_sink& sink) final;
  void finish(decoder_sink& sink) final;
  std::size_t held_bytes() const final { return body_.capacity() + kept_bytes(); }

 protected:
  using answer_decoder::answer_decoder;
  /// Bytes that the API's own decoder keeps of it.
  virtual std::size_t kept_bytes() const = 0;
  /// One event with JSON that has been checked; "error" events have been dealt with.
  virtual void take_event(std::string_view name, std::string_view json, decoder_sink& sink) = 0;
  /// A whole body that is checked JSON.
  virtual void take_body(std::string_view json, decoder_sink& sink) = 0;
  /// The stream ended, by `[DONE]` (`mark`) or with its bytes: a reply if the answer is known to be complete, else an
  /// error.
  virtual void take_stream_end(bool mark, decoder_sink& sink) = 0;

 private:
  enum class state : std::uint8_t { start, stream, json };
  void take(const sse_parser::event& event, decoder_sink& sink);
  state state_ = state::start;
  static constexpr std::size_t max_event = std::size_t{8} << 20;  // less than a whole answer may have (G33)
  sse_parser sse_{max_event};
  // Keeps what comes behind a line that begins with a brace: an error that a server wrote without its framing.
  void watch_for_stray(std::string_view bytes);
  json_scanner scanner_;
  std::string body_;
  std::string stray_;
  bool line_start_ = true;
};

}  // namespace mcpbx::providers

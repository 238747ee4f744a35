// Base of the decoders of all APIs. It tells a JSON body from a stream of server-sent events by the bytes, checks each
// value before it is read, words errors alike, and gives exactly one end.
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

namespace mcpbx::providers::wire {

/// Base of all decoders, which ends them with exactly one reply or one error.
class answer_decoder : public stream_decoder {
 public:
  bool done() const final { return ended_; }
  bool finish_seen() const override { return false; }

 protected:
  /// `api` becomes the api of the reply's origin. `request` as for codec::make_decoder().
  answer_decoder(std::string api, std::string content_type, wire_options options, const model_request* request);

  const wire_options& options() const { return options_; }
  call_ids& ids() { return ids_; }
  /// The name of the tool that is called by `written`: what stands behind a namespace where only that is a tool's.
  std::string called_name(std::string written) const;
  /// Returns an empty assistant message with its origin.
  std::shared_ptr<message> new_message() const;
  /// Estimates the output tokens, at four bytes each, for an API that counted nothing. The shell adds the input.
  static usage estimated(std::size_t answer_bytes);

  /// Returns a string value as a view, for comparisons: into `value` if it has no escapes, else into `held`.
  static std::string_view word_of(std::string_view value, std::string& held);
  /// Returns the text passed on so far, for an error. May pass on text that was held back.
  virtual std::string partial_text(decoder_sink& sink) = 0;
  void succeed(model_reply reply, decoder_sink& sink);
  /// Ends with an error "The model … at … " and `message`. `raw` is the endpoint's text, for the log.
  void fail(model_error::kind type, std::string_view message, decoder_sink& sink, std::string_view raw = {});
  /// Ends with an error that the answer reports. `raw` is quoted if `said` has no words.
  void fail(const error_body& said, std::string_view raw, decoder_sink& sink);
  /// Ends with an error for an answer that is not in this API's format.
  void fail_foreign(std::string_view bytes, decoder_sink& sink);
  void fail_cut(decoder_sink& sink);
  /// Ends with "The model … at … ", `message` and the advice about answers that were cut off.
  void fail_cut(std::string_view message, decoder_sink& sink);
  /// Ends with an error: the end mark came without a reason why the model stopped. The official clients refuse it too.
  void fail_unfinished(decoder_sink& sink);
  /// Logs that the last call of an answer is left out because the answer was cut there.
  void warn_cut_call() const;

 private:
  void fail(model_error e, decoder_sink& sink);
  std::string api_, content_type_;
  wire_options options_;
  const model_request* request_;
  call_ids ids_;
  bool ended_ = false;
};

/// Base of decoders for server-sent events. Accepts a JSON body as well, because some servers ignore the wish to
/// stream.
class event_decoder : public answer_decoder {
 public:
  void feed(std::string_view bytes, decoder_sink& sink) final;
  void finish(decoder_sink& sink) final;
  std::size_t held_bytes() const final { return body_.capacity() + kept_bytes(); }

 protected:
  using answer_decoder::answer_decoder;
  /// Returns the number of bytes that the API's own decoder keeps.
  virtual std::size_t kept_bytes() const = 0;
  /// Takes one event with checked JSON. Events called "error" are handled before.
  virtual void take_event(std::string_view name, std::string_view json, decoder_sink& sink) = 0;
  /// Takes a whole body of checked JSON.
  virtual void take_body(std::string_view json, decoder_sink& sink) = 0;
  /// Handles the end of the stream, by `[DONE]` (`mark`) or by its last byte. Gives a reply if the answer is known to
  /// be complete, else an error.
  virtual void take_stream_end(bool mark, decoder_sink& sink) = 0;

 private:
  enum class state : std::uint8_t { start, stream, json };
  void take(const sse_parser::event& event, decoder_sink& sink);
  state state_ = state::start;
  static constexpr std::size_t max_event = std::size_t{8} << 20;  // below the bound of a whole answer (G33)
  sse_parser sse_{max_event};
  // Keeps text from a line that begins with a brace on: some servers write errors without event framing.
  void watch_for_stray(std::string_view bytes);
  json::json_scanner scanner_;
  std::string body_;
  std::string stray_;
  bool line_start_ = true;
};

}  // namespace mcpbx::providers::wire

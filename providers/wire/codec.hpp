// Interface of the APIs' wire formats: an encoder and a push decoder, both without I/O. A decoder's events do not
// depend on the pieces of its input, and it ends with exactly one on_end or on_error.
#pragma once
#include "providers/model/message.hpp"

#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace mcpbx::providers::wire {

/// The part of a model's configuration that shapes bytes.
struct wire_options {
  std::string name;                             ///< name of the entry, for sentences; "": not from a configuration
  std::string model;                            ///< the provider's model id
  std::string base_url;                         ///< e.g. https://api.openai.com/v1
  std::string max_tokens_field = "max_tokens";  ///< or max_completion_tokens
  bool null_content = false;                    ///< content of a call-only assistant message: null instead of ""
  bool answer_schema = false;                   ///< the endpoint accepts a JSON Schema for the answer, also with tools
  bool stream_options = true;                   ///< ask for usage in the stream
  bool stop_sequences = true;                   ///< the model takes call_settings::stop
  bool developer_role = false;                  ///< system prompts are messages of the role developer
  bool short_call_ids = false;                  ///< ids of calls are nine letters and digits
  bool user_after_tool = true;                  ///< a user message may follow a tool message directly
  std::optional<bool> parallel_tool_calls;      ///< sent with tools when set
  bool takes_strict = false;                    ///< the endpoint knows the member that makes one tool strict
  std::optional<bool> strict;                   ///< sent with each tool when set; true: with those that allow it
  /// Reasoning that goes back to its origin in assistant messages: "auto" (the members as they came), "none", or the
  /// member under which it is sent.
  std::string echo_reasoning = "auto";
  std::string api_version;             ///< of azure, dial and anthropic; "": the codec's own
  json::raw_json body;                 ///< an object: further members of the request's body, which win; or absent
  std::int64_t max_output_tokens = 0;  ///< 0: not sent
  std::string temperature;             ///< JSON number text; empty: not sent
  std::string top_p;                   ///< likewise
};

/// An encoded call, without credentials: the shell adds those.
struct wire_request {
  std::string url;
  std::vector<std::pair<std::string, std::string>> headers;
  json::segments body;
  bool unsaid = false;  ///< the request has no message, which the API refuses, so it must not be sent
};

/// Receiver of a decoder's events. Nothing comes after on_end or on_error.
class decoder_sink {
 public:
  virtual ~decoder_sink() = default;
  virtual void on_text(std::string_view delta) = 0;
  virtual void on_reasoning(std::string_view delta) = 0;
  virtual void on_end(model_reply reply) = 0;
  virtual void on_error(model_error e) = 0;
};

class stream_decoder {
 public:
  virtual ~stream_decoder() = default;
  virtual void feed(std::string_view bytes, decoder_sink& sink) = 0;
  /// Ends the body. Without an end signalled before, that is an error (docs/guarantees.md, G28).
  virtual void finish(decoder_sink& sink) = 0;
  /// Returns true once the end was signalled: further bytes and the connection do not matter any more.
  virtual bool done() const = 0;
  /// Returns true once a finish reason came: the content is complete, though more may follow. If the connection breaks
  /// now nothing is lost, and finish() gives the reply.
  virtual bool finish_seen() const = 0;
  /// Returns roughly the number of bytes held in memory.
  virtual std::size_t held_bytes() const { return 0; }
};

class codec {
 public:
  virtual ~codec() = default;
  virtual wire_request encode(const model_request& request, const wire_options& options) const = 0;
  /// Makes the decoder of a 2xx answer. It tells a stream from a JSON body by the bytes, whatever was requested.
  /// `request` may be null; else it must outlive the decoder, whose calls get ids that `request` does not have.
  virtual std::unique_ptr<stream_decoder> make_decoder(std::string_view content_type, const wire_options& options,
                                                       const model_request* request = nullptr) const = 0;
  /// Makes the error of any other answer from its status and body (as far as it was read).
  virtual model_error decode_error(int status, std::string_view body, const wire_options& options) const = 0;
};

}  // namespace mcpbx::providers::wire

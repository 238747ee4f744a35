// The wire format of each API: a pure encoder and a push decoder. Neither knows a socket; a decoder gives the same
// events however its input is cut and ends in exactly one end or error.
#pragma once
#include "providers/model/message.hpp"

#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace mcpbx::providers {

/// The part of a model's configuration that shapes bytes.
struct wire_options {
  std::string name;                             ///< of the entry, for sentences; "": nobody configured it
  std::string model;                            ///< the provider's model id
  std::string base_url;                         ///< e.g. https://api.openai.com/v1
  std::string max_tokens_field = "max_tokens";  ///< or max_completion_tokens
  bool null_content = false;                    ///< content of a call-only assistant message: null instead of ""
  bool answer_schema = false;                   ///< the endpoint takes a JSON Schema for its answer, beside tools
  bool stream_options = true;                   ///< ask for usage in the stream
  bool stop_sequences = true;                   ///< the model takes call_settings::stop
  bool developer_role = false;                  ///< system prompts are messages of the role developer
  bool short_call_ids = false;                  ///< ids of calls are nine letters and digits
  bool user_after_tool = true;                  ///< a user's message may stand right behind a tool's
  std::optional<bool> parallel_tool_calls;      ///< sent with tools when set
  bool takes_strict = false;                    ///< the endpoint knows the member that makes one tool strict
  std::optional<bool> strict;                   ///< sent with each tool when set; true: with those that allow it
  /// What of its reasoning an assistant message takes back to its origin: "auto" (the members as they came), "none", or
  /// the member under which it is sent.
  std::string echo_reasoning = "auto";
  std::string api_version;             ///< of azure, dial and anthropic; "": the codec's own
  raw_json body;                       ///< an object: further members of the request's body, which win; or absent
  std::int64_t max_output_tokens = 0;  ///< 0: not sent
  std::string temperature;             ///< JSON number text; empty: not sent
  std::string top_p;                   ///< likewise
};

/// An encoded call, without credentials: the shell adds those.
struct wire_request {
  std::string url;
  std::vector<std::pair<std::string, std::string>> headers;
  segments body;
  bool unsaid = false;  ///< there is no message in it for an API that refuses that: it is not to be sent
};

/// Told by a decoder. After on_end or on_error nothing comes.
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
  /// The body ended: an error unless the end had been signalled (docs/guarantees.md, G28).
  virtual void finish(decoder_sink& sink) = 0;
  /// The end was signalled: further bytes do not matter and the connection need not be waited for.
  virtual bool done() const = 0;
  /// The answer's content is complete (a finish reason came), though more may follow: a connection that breaks now has
  /// lost nothing, and finish() will give the reply.
  virtual bool finish_seen() const = 0;
  /// About how many bytes it keeps of what came.
  virtual std::size_t held_bytes() const { return 0; }
};

class codec {
 public:
  virtual ~codec() = default;
  virtual wire_request encode(const model_request& request, const wire_options& options) const = 0;
  /// For a 2xx answer. What comes decides between a stream and one JSON body, not what was asked for. `request`, if not
  /// null, is what was asked and must outlive the decoder: its call ids are not given again.
  virtual std::unique_ptr<stream_decoder> make_decoder(std::string_view content_type, const wire_options& options,
                                                       const model_request* request = nullptr) const = 0;
  /// For any other answer: status and body (as far as read) become an error with the sentence for people.
  virtual model_error decode_error(int status, std::string_view body, const wire_options& options) const = 0;
};

}  // namespace mcpbx::providers

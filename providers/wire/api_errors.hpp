// One parser for the error answers of all model APIs and of proxies before them. It makes a model_error with a sentence
// for people: the model, its place, the status, the endpoint's words, the fix.
#pragma once
#include "providers/wire/codec.hpp"

#include <cstdint>
#include <string>
#include <string_view>

namespace mcpbx::providers::wire {

/// Content of an error body of any shape. All empty: it is no error.
struct error_body {
  std::string message, type, code;
  std::string failed_generation;     ///< the model's text in which its server found no readable call (Groq)
  std::int64_t retry_after_ms = -1;  ///< `retryDelay` of google.rpc.RetryInfo; -1: not given
  bool found() const { return !message.empty() || !type.empty() || !code.empty(); }
};

/// Reads `json`, checked JSON: {"error":{…}} (with `status` and `details` as Gemini and Anthropic have them),
/// {"error":"…"}, {"object":"error",…}, {"type":"error","code":…}, {"detail":…}, a list of one of these. Gemini's
/// `details` tell how long to wait.
error_body read_error_body(std::string_view json);

/// Makes the error for an answer with this status and body (as far as it was read).
model_error status_error(int status, std::string_view body, const wire_options& options);

/// Makes the error that came inside an answer of status 200.
model_error stream_error(const error_body& said, std::string_view raw, const wire_options& options);

/// Advice about an answer that was cut off.
inline constexpr std::string_view cut_mend =
    "Ask again; if that goes on, look into the log of its server, or of a proxy before it.";

/// Returns `model "fast" (gpt-x)`: the entry's name, and the provider's id if it differs.
std::string named(const wire_options& options);

/// Returns `model "fast" (gpt-x) at api.example.com`, for sentences whose cause does not name the place.
std::string who(const wire_options& options);

/// Returns `s` in lower case (ASCII), to compare words of endpoints.
std::string lower(std::string_view s);

/// Returns text of an endpoint for the log: at most 8 KiB, secrets redacted.
std::string loggable(std::string_view text);

/// Returns at most 300 bytes of foreign text for an error: printable, secrets redacted.
std::string excerpt(std::string_view text);

}  // namespace mcpbx::providers::wire

// Error answers of every shape that the model APIs and the proxies before them send, as one model_error with a sentence
// for people: which model where, the status, what it said, the mend. One parser for all APIs.
#pragma once
#include "providers/wire/codec.hpp"

#include <cstdint>
#include <string>
#include <string_view>

namespace mcpbx::providers {

/// What an error body says, whatever its shape. All empty: it is none.
struct error_body {
  std::string message, type, code;
  std::string failed_generation;     ///< what the model wrote, when that was no call that the server could read (Groq)
  std::int64_t retry_after_ms = -1;  ///< `retryDelay` of google.rpc.RetryInfo; -1: nothing
  bool found() const { return !message.empty() || !type.empty() || !code.empty(); }
};

/// Reads `json`, checked JSON: {"error":{…}} (with `status` and `details` as Gemini and Anthropic have them),
/// {"error":"…"}, {"object":"error",…}, {"type":"error","code":…}, {"detail":…}, a list of one of these. Gemini's
/// `details` tell how long to wait.
error_body read_error_body(std::string_view json);

/// An error answer with this status and body (as far as it was read).
model_error status_error(int status, std::string_view body, const wire_options& options);

/// An error that came inside an answer of status 200.
model_error stream_error(const error_body& said, std::string_view raw, const wire_options& options);

/// What people can do about an answer that was cut off.
inline constexpr std::string_view cut_mend =
    "Ask again; if that goes on, look into the log of its server, or of a proxy before it.";

/// `model "fast" (gpt-x)`: the entry, and the provider's id where that is another.
std::string named(const wire_options& options);

/// `model "fast" (gpt-x) at api.example.com`, as sentences begin whose cause does not name the place itself.
std::string who(const wire_options& options);

/// An endpoint's word without regard to capitals.
std::string lower(std::string_view s);

/// What an endpoint sent, for the log: at most 8 KiB, secrets redacted.
std::string loggable(std::string_view text);

/// At most 300 bytes of foreign text for an error: printable, secrets redacted.
std::string excerpt(std::string_view text);

}  // namespace mcpbx::providers

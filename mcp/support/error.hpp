// Errors as values: a kind, and one sentence that names the cause, the peer or place and, if there is one, the fix.
#pragma once
#include <expected>
#include <string>
#include <string_view>
#include <utility>

namespace mcpbx {

/// Kind of an error. It decides exit statuses and JSON-RPC codes, never the wording.
enum class errc {
  invalid_argument,  ///< the caller's input is wrong
  parse,             ///< bytes that are not what they claim to be
  not_found,         ///< no such tool, server, model, session, file
  timed_out,         ///< a limit on time was hit
  cancelled,         ///< somebody asked for the end
  unavailable,       ///< a tool server or endpoint is down, starting or refused
  peer,              ///< the peer answered with an error of its own
  protocol,          ///< the peer broke the protocol
  limit,             ///< a bound on bytes, depth or number was hit
  io,                ///< the system below failed
  config,            ///< the configuration is wrong or misses something
  internal           ///< a bug of ours
};

/// Returns the word for a kind in logs and tests ("timed_out").
std::string_view to_string(errc code);

/// A failure. `message` is one sentence for people, without a trailing newline, and never holds a secret.
struct error {
  errc code = errc::internal;
  std::string message;
};

template <class T>
using result = std::expected<T, error>;

/// Makes an error to return: `return fail(errc::limit, "…")`.
inline std::unexpected<error> fail(errc code, std::string message) {
  return std::unexpected(error{code, std::move(message)});
}

}  // namespace mcpbx

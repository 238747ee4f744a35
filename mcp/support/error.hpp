// Errors as values: what happened, in one sentence that names the peer or place and, where there is one, the mend.
#pragma once
#include <expected>
#include <string>
#include <string_view>
#include <utility>

namespace mcpbx {

/// What kind of failure an error is; it decides exit codes and JSON-RPC codes at the borders, never wording.
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

/// The word for a kind, as logs and tests print it ("timed_out").
std::string_view to_string(errc code);

/// A failure. `message` is one sentence for people, without a trailing newline, and never holds a secret.
struct error {
  errc code = errc::internal;
  std::string message;
};

template <class T>
using result = std::expected<T, error>;

/// Shorthand for returning an error: `return fail(errc::limit, "…")`.
inline std::unexpected<error> fail(errc code, std::string message) {
  return std::unexpected(error{code, std::move(message)});
}

}  // namespace mcpbx

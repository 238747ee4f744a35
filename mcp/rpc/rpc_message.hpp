// The JSON-RPC 2.0 envelope. It is parsed once on arrival and rebuilt at each hop; params, result and error stay raw.
#pragma once
#include "mcp/json/json_scanner.hpp"
#include "mcp/json/raw_json.hpp"
#include "mcp/support/error.hpp"

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace mcpbx::mcp::rpc {

/// JSON-RPC and MCP error codes that we send ourselves.
namespace code {
inline constexpr int parse_error = -32700;
inline constexpr int invalid_request = -32600;
inline constexpr int method_not_found = -32601;
inline constexpr int invalid_params = -32602;
inline constexpr int internal_error = -32603;
inline constexpr int server_error = -32000;  ///< a tool server failed: died, timed out, cannot be reached
inline constexpr int overloaded = -32001;    ///< a bound was hit; `data.retryable` is true
inline constexpr int not_found = -32002;     ///< no such resource, server, run
inline constexpr int cancelled = -32800;     ///< the request was cancelled by its caller
}  // namespace code

/// An id as it stood on the wire: a string of at most 256 bytes or an integer token. Compared by type and value.
class rpc_id {
 public:
  rpc_id() = default;
  /// Parses a token. nullopt: no valid id (null, fraction, exponent, object, a string over 256 bytes).
  static std::optional<rpc_id> from(const json::raw_json& token);
  /// Does the same in place. Returns false and leaves the id empty if `token` is no valid id.
  bool read(std::string_view token);
  static rpc_id number(std::int64_t value);

  bool empty() const noexcept { return key_.empty(); }
  /// Returns the bytes to echo. They are a copy, so that a stored id does not keep its message alive.
  std::string_view token() const noexcept {
    return token_.empty() && !key_.empty() ? std::string_view(key_).substr(1) : std::string_view(token_);
  }
  /// Returns type and value in one string: equal for "a" and "\u0061", different for 2 and "2".
  const std::string& key() const noexcept { return key_; }
  friend bool operator==(const rpc_id& a, const rpc_id& b) noexcept { return a.key_ == b.key_; }

 private:
  std::string key_;    // a letter for the kind of id, then its value
  std::string token_;  // empty if it equals the value in key_, as for nearly every integer
};

/// A JSON-RPC error object. `data` is absent or any JSON.
struct rpc_error {
  int code = code::internal_error;
  std::string message;
  json::raw_json data;
  json::raw_json json() const;
};

/// One message that passed the scanner and the envelope rules.
struct message {
  enum class kind : std::uint8_t { request, notification, response, batch };
  kind type = kind::notification;
  json::raw_json whole;   ///< the text of the envelope (of the array, for a batch)
  rpc_id id;              ///< request, response
  json::raw_json params;  ///< object, or absent
  json::raw_json result;  ///< response: any JSON, or absent; pending_calls checks that it is an object
  json::raw_json error;   ///< response: an object, or absent
  /// The id of the request of ours in whose own stream it came, over connections that have such streams; 0: not known.
  std::int64_t about = 0;
  /// Returns the unescaped method; valid as long as this message.
  std::string_view method() const noexcept {
    return method_storage.empty() ? method_ : std::string_view(method_storage);
  }

  std::string method_storage;  // set if the method has escapes
  std::string_view method_;    // otherwise a view into `whole`, which stays valid when the message is moved
};

/// Reason for refusing an envelope, with the id if it was found, so that the sender or the pending call gets an error.
struct envelope_fault {
  int code = code::invalid_request;  ///< -32700 or -32600
  rpc_id id;                         ///< empty if none could be read
  bool is_response = false;          ///< it has a result or error, or an id and no method: the id is one of ours
  std::string what;                  ///< one clause, e.g. "member \"id\" occurs twice"
  bool answers = false;              ///< it has a result or error, so it must not be answered
};

/// Makes a message of one checked text and its index by the rules of README.md. The spans of `index` count from the
/// first byte of `whole`, which the message takes over; a refused one is left.
std::expected<message, envelope_fault> make_message(json::raw_json& whole, const json::envelope_index& index);
/// Does the same for text that has not been scanned yet (an element of a batch, an HTTP body). Drops blanks around it,
/// and replaces raw line breaks by blanks, in a copy, so that the message can be sent on one line.
std::expected<message, envelope_fault> parse_message(json::raw_json whole, int max_depth = 256);
/// Makes the fault of a text that the scanner refused or that is too long, with its id if it was read. `text` is the
/// part that was read, `index` the scanner's result for it.
envelope_fault fault_of(std::string_view text, const json::envelope_index& index, int code, std::string what);

// Functions that build envelopes, without a line break at the end; the transport adds it.
json::segments make_request(std::int64_t id, std::string_view method, const json::segments& params);
json::segments make_request(std::int64_t id, std::string_view method, const json::raw_json& params);
json::segments make_notification(std::string_view method, const json::segments& params);
json::segments make_notification(std::string_view method, const json::raw_json& params);
/// `notifications/cancelled` of a request of ours.
json::segments make_cancelled(std::int64_t id, std::string_view reason);
json::segments make_result(const rpc_id& id, const json::segments& result);
json::segments make_result(const rpc_id& id, const json::raw_json& result);
/// Makes an error answer. An empty id becomes null.
json::segments make_error(const rpc_id& id, const rpc_error& error);
/// Makes an error answer with the error object as its sender wrote it.
json::segments make_error(const rpc_id& id, const json::raw_json& error);

}  // namespace mcpbx::mcp::rpc

// Description of a message for the connection that sends it.
#pragma once
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <utility>

namespace mcpbx::mcp::rpc {

/// Facts about a message for a connection that repeats them beside it, in headers. Made only for such connections
/// (transport::mirrors()), and valid during send() alone.
struct message_facts {
  std::string_view method;    ///< of a request or notification; "" for a response
  std::string_view revision;  ///< that is spoken; "" before one is agreed on
  bool modern = false;        ///< `revision` is one without sessions
  std::string_view name;      ///< the member of the params that Mcp-Name repeats, unescaped; "": none
  /// Values out of the arguments of a call, under the names that their schemas give (2026-07-28, Streamable HTTP,
  /// "Custom Headers from Tool Parameters"); as words, not encoded yet.
  std::span<const std::pair<std::string, std::string>> fields = {};
};

/// The kind of a message, and the request that it is about. A stream sends all kinds alike; a transport that carries
/// each request in an exchange of its own ties the answer to it, and ends the exchange of a request that is cancelled.
struct outgoing {
  enum class kind : std::uint8_t {
    notification,
    request,
    cancellation,  ///< the notification that a request of ours is not waited for any more
    response       ///< or a batch of them
  };
  kind type = kind::notification;
  /// request, cancellation: the id of our request; response: the request of ours in whose stream the peer asked, or 0.
  std::int64_t id = 0;
  const message_facts* facts = nullptr;  ///< null: the connection has no use for them

  static constexpr outgoing request(std::int64_t id) noexcept { return {kind::request, id}; }
  static constexpr outgoing cancellation(std::int64_t id) noexcept { return {kind::cancellation, id}; }
  static constexpr outgoing response(std::int64_t about = 0) noexcept { return {kind::response, about}; }
};

}  // namespace mcpbx::mcp::rpc

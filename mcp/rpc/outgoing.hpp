// Description of a message for the connection that sends it.
#pragma once
#include <cstdint>

namespace mcpbx::mcp {

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
  std::int64_t id = 0;  ///< request, cancellation: the id of our request

  static constexpr outgoing request(std::int64_t id) noexcept { return {kind::request, id}; }
  static constexpr outgoing cancellation(std::int64_t id) noexcept { return {kind::cancellation, id}; }
  static constexpr outgoing response() noexcept { return {kind::response}; }
};

}  // namespace mcpbx::mcp

// The ways in which addresses were found to speak MCP, for all entries and callers as long as the daemon runs: a
// bounded table that forgets.
#pragma once
#include "mcp/support/time.hpp"

#include <cstddef>
#include <cstdint>
#include <map>
#include <string>
#include <string_view>

namespace mcpbx::mcp::remote {

/// A way over HTTP: Streamable HTTP of 2026-07-28, Streamable HTTP with a handshake, or the deprecated HTTP+SSE.
enum class remote_way : std::uint8_t { unknown, modern, legacy, event_stream };

/// Keeps the verdict on each address, and the latest verdict on any address of each origin. Several servers may have
/// one origin, so that the verdict on a neighbour is a hint for the order of trials, and never the reason to leave one
/// out.
class remote_verdicts {
 public:
  /// Bound on addresses, and on origins. The one with the oldest verdict makes room.
  static constexpr std::size_t most = 1024;
  /// Age at which a verdict counts no more: servers learn newer revisions.
  static constexpr std::chrono::hours good_for{24};

  /// Returns the verdict on an address.
  remote_way of_address(std::string_view address, time_point now) const { return find(addresses_, address, now); }
  /// Returns the latest verdict on any address of an origin.
  remote_way of_origin(std::string_view origin, time_point now) const { return find(origins_, origin, now); }
  /// Keeps a verdict that was found by asking the server.
  void note(std::string_view origin, std::string_view address, remote_way way, time_point now);
  /// Forgets the verdict on an address that was wrong, and its origin's if that is the same.
  void forget(std::string_view origin, std::string_view address);
  /// Forgets the hint that an origin gives, since it was wrong for another address of it.
  void forget_origin(std::string_view origin);

 private:
  struct verdict {
    remote_way way = remote_way::unknown;
    time_point since;
  };
  using table = std::map<std::string, verdict, std::less<>>;
  static remote_way find(const table& in, std::string_view key, time_point now);
  static void put(table& in, std::string_view key, verdict v);

  table addresses_, origins_;
};

}  // namespace mcpbx::mcp::remote

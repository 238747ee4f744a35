// URIs of resources that one caller watches: their bounds, and searches for their servers that leave room for others.
#pragma once
#include "mcp/client/catalog/catalog.hpp"
#include "mcp/server/base/caller_host.hpp"
#include "mcp/support/error.hpp"
#include "mcp/support/shared_bytes.hpp"
#include "mcp/support/time.hpp"

#include <cstddef>
#include <functional>
#include <memory>
#include <string>
#include <string_view>

namespace mcpbx::mcp::watches {

/// The URIs of one table, in number and bytes. Their bytes count as bytes that mcpbx holds.
class uri_count {
 public:
  /// Most bytes of all URIs of one caller. Each is kept twice: as its caller knows it, and as its server does.
  static constexpr std::size_t most_bytes = std::size_t{256} << 10;

  /// Returns errc::limit if the caller may not watch so many more bytes.
  result<void> admit(std::size_t bytes) const;
  void add(std::size_t bytes) { set(bytes_ + bytes); }
  void remove(std::size_t bytes) { set(bytes_ - bytes); }

 private:
  void set(std::size_t bytes) {
    bytes_ = bytes;
    held_.set(2 * bytes);
  }
  std::size_t bytes_ = 0;
  byte_share held_;
};

/// Returns the URI under which a caller that watches `asked` at this route is told of an update of the server's own URI
/// `changed`, which may be a part of the watched one (2025-11-25, resources/updated): the server's URI, or behind
/// `mcpbx://` if the caller asked that way. If the caller may not read the part, it is told of the whole.
std::string told_uri(const catalogs::catalog& all, const catalogs::resource_route& route, std::string_view asked,
                     std::string_view changed);

/// Searches in parts: a few in a turn, the others in later turns, since one search may cost as much as many messages.
class paced_searches {
 public:
  /// Most searches in one turn, and bytes of their URIs. The first URI may be longer.
  static constexpr std::size_t most = 16, most_bytes = std::size_t{16} << 10;
  /// Does the next search and returns the bytes of its URI; 0: there is none. May close the caller's session.
  using step = std::function<std::size_t()>;

  /// `host` must outlive this object or its stop().
  paced_searches(server::caller_host& host, step next) : host_(&host), next_(std::move(next)) {}

  /// Begins, unless later turns are planned already.
  void begin();
  /// Plans nothing more.
  void stop();

 private:
  void run();

  server::caller_host* host_;  // null once stopped
  step next_;
  std::unique_ptr<timer> timer_;
  bool waits_ = false, running_ = false;
};

}  // namespace mcpbx::mcp::watches

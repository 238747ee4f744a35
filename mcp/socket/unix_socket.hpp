// The local socket: guarded by a lock for its life, private from the start; peers are identified before a byte is
// parsed (docs/guarantees.md, G42).
#pragma once
#include "mcp/socket/peer_process.hpp"
#include "mcp/support/error.hpp"
#include "mcp/support/time.hpp"

#include <boost/asio/any_io_executor.hpp>
#include <boost/asio/awaitable.hpp>

#include <sys/types.h>

#include <functional>
#include <memory>
#include <string>

namespace mcpbx::mcp::socket {

/// A listening Unix socket. It creates a missing directory with mode 0700, refuses one of another user or writable by
/// others, holds a lock on `path`.lock for its life, and binds under umask 0177, so that the socket has mode 0600.
class unix_listener {
 public:
  /// Opens the socket; `time` must outlive it. An error of `once_locked`, called while the place is ours and nothing
  /// answers there yet, ends the attempt. errc::unavailable: another process holds the lock ("a daemon already …").
  /// errc::invalid_argument: a path over 107 bytes. errc::io.
  static result<std::unique_ptr<unix_listener>> open(boost::asio::any_io_executor executor, time_source& time,
                                                     const std::string& path,
                                                     const std::function<result<void>()>& once_locked = {});
  /// Takes over a socket passed by systemd (descriptor 3); its file is not removed at the end.
  static result<std::unique_ptr<unix_listener>> adopt(boost::asio::any_io_executor executor, time_source& time, int fd);
  virtual ~unix_listener() = default;
  /// Starts accepting. Closes connections of other users; `on_connection` takes ownership of each other descriptor.
  virtual void start(std::function<void(int fd, peer_credentials)> on_connection) = 0;
  /// Stops accepting and removes the socket file if it is ours. Keeps the lock, since the daemon is still ending.
  virtual void close() = 0;
};

/// Connects; blocks for at most 5 s. errc::unavailable: nobody listens.
result<int> connect_unix(const std::string& path);

/// Connection to the socket behind a link. Both the link and the listening process must belong to us, else
/// errc::unavailable.
struct linked_socket {
  int fd = -1;  ///< connected; the caller owns it
  std::string path;
};
result<linked_socket> connect_link(const std::string& link);

/// Makes the link, or changes its target to `path`, which must be absolute.
result<void> set_link(const std::string& link, const std::string& path);
/// Removes the link if its target is `path`.
void remove_link(const std::string& link, const std::string& path) noexcept;

}  // namespace mcpbx::mcp::socket

// The local socket: guarded by a lock for life, private from the first moment, peers known before a byte is parsed
// (docs/guarantees.md, G42).
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

namespace mcpbx::mcp {

/// A listening Unix socket at `path`. Creates a missing directory 0700; refuses one that is not ours or that others may
/// write; holds flock on `path`.lock until it is destroyed; binds under umask 0177: the socket is 0600 from the start.
class unix_listener {
 public:
  /// errc::unavailable when another process holds the lock ("a daemon already …"); errc::io or invalid_argument
  /// (path over 107 bytes) otherwise. Each accepted connection (uid already compared with ours; others were closed)
  /// goes to `on_connection` with ownership of the descriptor. On EMFILE accepting pauses 100 ms. `time` must outlive
  /// the listener.
  static result<std::unique_ptr<unix_listener>> open(boost::asio::any_io_executor executor, time_source& time,
                                                     const std::string& path);
  /// Takes over a socket passed by systemd (descriptor 3); its file is not removed at the end.
  static result<std::unique_ptr<unix_listener>> adopt(boost::asio::any_io_executor executor, time_source& time, int fd);
  virtual ~unix_listener() = default;
  virtual void start(std::function<void(int fd, peer_credentials)> on_connection) = 0;
  /// Stops accepting and removes the socket file (if it is ours). The lock stays: who is on its way out is still here.
  virtual void close() = 0;
};

/// Connects (blocking, at most as long as the kernel needs for a local socket). errc::unavailable when nobody listens.
result<int> connect_unix(const std::string& path);

/// The socket that a link of ours leads to, if a process of ours listens there. errc::unavailable otherwise.
struct linked_socket {
  int fd = -1;  ///< connected, the caller's
  std::string path;
};
result<linked_socket> connect_link(const std::string& link);

/// Makes the link, or lets it lead to `path`, which is absolute.
result<void> set_link(const std::string& link, const std::string& path);
/// Removes it if it leads to `path`.
void remove_link(const std::string& link, const std::string& path) noexcept;

}  // namespace mcpbx::mcp

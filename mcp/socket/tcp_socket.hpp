// A TCP port on loopback, for HTTP. Other machines cannot reach it (docs/guarantees.md, G43).
#pragma once
#include "mcp/socket/acceptor.hpp"
#include "mcp/support/error.hpp"
#include "mcp/support/time.hpp"

#include <boost/asio/any_io_executor.hpp>

#include <functional>
#include <memory>
#include <string>

namespace mcpbx::mcp::socket {

class loopback_listener {
 public:
  /// Opens the port. `address` is HOST:PORT with the host 127.x.x.x, [::1] or localhost (127.0.0.1, without a look-up);
  /// port 0 takes a free one. errc::invalid_argument: another host; errc::io: the port cannot be opened. `time` must
  /// outlive the listener.
  static result<std::unique_ptr<loopback_listener>> open(const boost::asio::any_io_executor& executor,
                                                         time_source& time, const std::string& address);

  /// Calls `on_connection` with each connection, which takes ownership of the descriptor; `from` is the caller's
  /// HOST:PORT.
  void start(std::function<void(int fd, const std::string& from)> on_connection);
  void close() { acceptor_.close(); }
  /// Returns the address in numeric form.
  const std::string& address() const noexcept { return address_; }

  loopback_listener(const boost::asio::any_io_executor& executor, time_source& time, process::unique_fd socket,
                    std::string address)
      : acceptor_(executor, time, std::move(socket)), address_(std::move(address)) {}

 private:
  acceptor acceptor_;
  std::string address_;
};

}  // namespace mcpbx::mcp::socket

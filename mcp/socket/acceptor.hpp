// Accepts connections on a listening socket of any kind: a bounded number in each turn, with a pause if the system has
// no descriptors left.
#pragma once
#include "mcp/process/unique_fd.hpp"
#include "mcp/support/time.hpp"

#include <boost/asio/any_io_executor.hpp>

#include <functional>
#include <memory>

namespace mcpbx::mcp::socket {

class acceptor {
 public:
  /// `socket` must listen and be non-blocking. `time` must outlive the acceptor.
  acceptor(const boost::asio::any_io_executor& executor, time_source& time, process::unique_fd socket);
  ~acceptor();
  acceptor(const acceptor&) = delete;
  acceptor& operator=(const acceptor&) = delete;

  /// Calls `accepted` with each connection, close-on-exec and non-blocking. The callback may close or destroy the
  /// acceptor.
  void start(std::function<void(process::unique_fd)> accepted);
  void close();
  bool is_open() const noexcept;

 private:
  class impl;
  std::shared_ptr<impl> impl_;
};

}  // namespace mcpbx::mcp::socket

// Reads a tool server's stderr however much it writes, since a full pipe would stop the server. One read a turn.
#pragma once
#include <boost/asio/any_io_executor.hpp>
#include <boost/asio/posix/stream_descriptor.hpp>

#include <functional>
#include <memory>
#include <string_view>

namespace mcpbx::mcp::keepers {

class stderr_reader : public std::enable_shared_from_this<stderr_reader> {
 public:
  /// Takes ownership of `fd`. `sink` gets the bytes as they come, cut anywhere.
  stderr_reader(const boost::asio::any_io_executor& executor, int fd, std::function<void(std::string_view)> sink);
  void start() { post_turn(); }
  /// Calls `done` once everything that the dead process wrote has been read.
  void drain(std::function<void()> done);
  /// Ends reading. Neither `sink` nor `done` is called afterwards.
  void close();

 private:
  void post_turn();
  void wait_readable();
  void read_turn();
  void finish_draining();
  boost::asio::posix::stream_descriptor in_;
  std::function<void(std::string_view)> sink_;
  std::function<void()> drained_;
  bool waiting_ = false, turn_posted_ = false, ended_ = false, closed_ = false;
};

}  // namespace mcpbx::mcp::keepers

// Reads a tool server's stderr, one read a turn, until its end or close().
#include "mcp/process/keeper/stderr_reader.hpp"

#include "mcp/support/read_size.hpp"
#include "mcp/transport/read_buffer.hpp"

#include <boost/asio/error.hpp>
#include <boost/asio/post.hpp>

#include <fcntl.h>
#include <unistd.h>

#include <cerrno>
#include <utility>

namespace mcpbx::mcp::keepers {

namespace asio = boost::asio;

stderr_reader::stderr_reader(const asio::any_io_executor& executor, int fd, std::function<void(std::string_view)> sink)
    : in_(executor, fd), sink_(std::move(sink)) {
  ::fcntl(fd, F_SETFD, FD_CLOEXEC);
  ::fcntl(fd, F_SETFL, ::fcntl(fd, F_GETFL) | O_NONBLOCK);
}

void stderr_reader::post_turn() {
  if (turn_posted_) return;
  turn_posted_ = true;
  asio::post(in_.get_executor(), [self = shared_from_this()] {
    self->turn_posted_ = false;
    self->read_turn();
  });
}

void stderr_reader::wait_readable() {
  if (waiting_) return;
  waiting_ = true;
  in_.async_wait(asio::posix::stream_descriptor::wait_read,
                 [self = shared_from_this()](const boost::system::error_code& failed) {
                   self->waiting_ = false;
                   if (failed != asio::error::operation_aborted) self->read_turn();
                 });
}

void stderr_reader::read_turn() {
  if (closed_) return;
  if (ended_) return finish_draining();
  const auto buffer = transports::shared_read_buffer().first(read_size(transports::read_turn_bytes));
  ssize_t n = 0;
  do n = ::read(in_.native_handle(), buffer.data(), buffer.size());
  while (n < 0 && errno == EINTR);
  if (n > 0) {
    sink_({buffer.data(), static_cast<std::size_t>(n)});
    if (closed_) return;
    if (drained_ || static_cast<std::size_t>(n) == buffer.size()) return post_turn();
    return wait_readable();
  }
  if (n < 0 && (errno == EAGAIN || errno == EWOULDBLOCK)) {
    finish_draining();
    if (!closed_) wait_readable();
    return;
  }
  ended_ = true;
  boost::system::error_code ignored;
  in_.close(ignored);
  finish_draining();
}

void stderr_reader::drain(std::function<void()> done) {
  if (closed_) return;
  drained_ = std::move(done);
  post_turn();
}

void stderr_reader::finish_draining() {
  if (auto done = std::exchange(drained_, nullptr)) done();
}

void stderr_reader::close() {
  closed_ = true;
  boost::system::error_code ignored;
  in_.close(ignored);
  drained_ = nullptr;
}

}  // namespace mcpbx::mcp::keepers

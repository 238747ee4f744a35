// Reading of a connection's first byte without consuming it.
#include "daemon/front/new_caller.hpp"

#include <boost/asio/error.hpp>

#include <sys/socket.h>

#include <cerrno>
#include <utility>

namespace mcpbx::daemon::door {

namespace asio = boost::asio;

new_caller::new_caller(const asio::any_io_executor& executor, int fd, spoken told)
    : socket_(executor, fd), told_(std::move(told)) {}

void new_caller::close(std::string_view) {
  told_ = nullptr;
  boost::system::error_code ignored;
  socket_.close(ignored);
}

void new_caller::wait() {
  socket_.async_wait(asio::posix::stream_descriptor::wait_read,
                     [self = shared_from_this()](const boost::system::error_code& ec) {
                       if (!ec && self->told_) self->look();
                     });
}

void new_caller::look() {
  char some[64];
  ssize_t n = 0;
  do n = ::recv(socket_.native_handle(), some, sizeof some, MSG_PEEK | MSG_DONTWAIT);
  while (n < 0 && errno == EINTR);
  if (n < 0 && (errno == EAGAIN || errno == EWOULDBLOCK)) return wait();
  if (n <= 0) return std::exchange(told_, nullptr)(*this, -1, caller_protocol::json_rpc);
  for (ssize_t i = 0; i < n; ++i) {
    const char c = some[i];
    if (c == ' ' || c == '\t' || c == '\r' || c == '\n') continue;
    return std::exchange(told_, nullptr)(*this, socket_.release(), protocol_of(c));
  }
  // Skips blanks, which mean nothing in either protocol.
  (void)!::recv(socket_.native_handle(), some, static_cast<std::size_t>(n), MSG_DONTWAIT);
  wait();
}

}  // namespace mcpbx::daemon::door

// Accepts connections. Handlers hold the state weakly, so that the acceptor may be destroyed at any moment.
#include "mcp/socket/acceptor.hpp"

#include "mcp/support/log.hpp"

#include <boost/asio/error.hpp>
#include <boost/asio/posix/stream_descriptor.hpp>
#include <boost/asio/post.hpp>

#include <sys/socket.h>

#include <cerrno>
#include <cstring>
#include <string>
#include <utility>

namespace mcpbx::mcp::socket {

namespace asio = boost::asio;

namespace {
constexpr milliseconds longest_turn{2};
constexpr milliseconds rest_time{100};
}  // namespace

class acceptor::impl : public std::enable_shared_from_this<impl> {
 public:
  impl(const asio::any_io_executor& executor, time_source& time, process::unique_fd socket)
      : time_(time), socket_(executor, socket.get()), pause_(time.make_timer()) {
    socket.release();
  }

  void start(std::function<void(process::unique_fd)> accepted) {
    accepted_ = std::move(accepted);
    wait();
  }

  void close() {
    if (!socket_.is_open()) return;
    boost::system::error_code ignored;
    socket_.close(ignored);
    pause_->cancel();
    // The handler may be running, so destroy it in a later turn.
    asio::post(socket_.get_executor(), [f = std::move(accepted_)] {});
  }

  bool is_open() const { return socket_.is_open(); }

 private:
  void wait() {
    socket_.async_wait(asio::posix::stream_descriptor::wait_read,
                       [weak = weak_from_this()](const boost::system::error_code& failed) {
                         auto self = weak.lock();
                         if (!self || !self->socket_.is_open() || failed == asio::error::operation_aborted) return;
                         self->accept_some();
                       });
  }

  // Accepts a bounded number of connections within a bounded time, since each caller is examined first: a storm of new
  // ones must not delay those already connected.
  void accept_some() {
    const auto until = time_.now() + longest_turn;
    for (int i = 0; i < 16 && time_.now() < until; ++i) {
      process::unique_fd fd(::accept4(socket_.native_handle(), nullptr, nullptr, SOCK_CLOEXEC | SOCK_NONBLOCK));
      if (fd.get() < 0) {
        if (errno == EINTR || errno == ECONNABORTED) continue;
        if (errno == EAGAIN || errno == EWOULDBLOCK) break;
        return rest(errno);
      }
      complained_ = false;
      // A copy keeps the handler alive if it closes this acceptor.
      const auto handler = accepted_;
      handler(std::move(fd));
      if (!socket_.is_open()) return;
    }
    wait();
  }

  // Pauses after a lack of descriptors or memory instead of spinning. Existing connections go on.
  void rest(int number) {
    if (!std::exchange(complained_, true)) log::warn(std::string("accepting callers pauses: ") + std::strerror(number));
    pause_->arm(time_.now() + rest_time, [weak = weak_from_this()] {
      const auto self = weak.lock();
      if (self && self->socket_.is_open()) self->accept_some();
    });
  }

  time_source& time_;
  asio::posix::stream_descriptor socket_;
  std::unique_ptr<timer> pause_;
  std::function<void(process::unique_fd)> accepted_;
  bool complained_ = false;
};

acceptor::acceptor(const asio::any_io_executor& executor, time_source& time, process::unique_fd socket)
    : impl_(std::make_shared<impl>(executor, time, std::move(socket))) {}

acceptor::~acceptor() {
  impl_->close();
}

void acceptor::start(std::function<void(process::unique_fd)> accepted) {
  impl_->start(std::move(accepted));
}
void acceptor::close() {
  impl_->close();
}
bool acceptor::is_open() const noexcept {
  return impl_->is_open();
}

}  // namespace mcpbx::mcp::socket

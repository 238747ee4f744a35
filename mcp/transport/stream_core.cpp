// Reads and writes one connection with callbacks. This is the hot path, so it uses no coroutine and no std::function
// per operation.
#include "mcp/transport/stream_core.hpp"

#include "mcp/support/read_size.hpp"
#include "mcp/transport/read_buffer.hpp"

#include <boost/asio/error.hpp>
#include <boost/asio/post.hpp>

#include <fcntl.h>
#include <poll.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <unistd.h>

#include <array>
#include <atomic>
#include <cerrno>
#include <cstring>
#include <utility>
#include <vector>

namespace mcpbx::mcp::transports {
namespace {

namespace asio = boost::asio;

constexpr std::size_t write_bytes_per_turn = 1024 * 1024;
// Size of the kernel's buffer for connections with large messages. All start small to save its memory. A message that
// fits leaves in one write; each part more costs two switches between the processes.
constexpr int wide = 1024 * 1024;
// Turns in which a peer that no longer reads may still send, before the connection ends.
constexpr int turns_after_write_error = 64;

void prepare(int fd) {
  ::fcntl(fd, F_SETFD, FD_CLOEXEC);
  const int flags = ::fcntl(fd, F_GETFL);
  if (flags >= 0) ::fcntl(fd, F_SETFL, flags | O_NONBLOCK);
}

const error closed_by_peer{errc::unavailable, "the other side closed the connection"};

// Returns true if the peer has closed its end in both directions.
bool has_hung_up(int fd) {
  pollfd p{fd, 0, 0};
  return ::poll(&p, 1, 0) > 0 && (p.revents & (POLLHUP | POLLERR | POLLNVAL)) != 0;
}

// Enlarges the buffer of a pipe; a socket has none of that kind.
void widen_pipe(int fd) {
  ::fcntl(fd, F_SETPIPE_SZ, wide);
}

// The number of connections in this process whose socket is wide, and the most that may be: nobody's memory counts what
// the kernel holds.
std::atomic<int> wide_sockets = 0;
constexpr int most_wide_sockets = 64;

// Enlarges the send buffer of a socket, as far as net.core.wmem_max allows. Returns false if it stays as it is.
bool widen_socket(int fd) {
  constexpr int half = wide / 2;  // the kernel doubles the size
  if (wide_sockets >= most_wide_sockets || ::setsockopt(fd, SOL_SOCKET, SO_SNDBUF, &half, sizeof half) != 0)
    return false;
  ++wide_sockets;
  return true;
}

bool is_socket(int fd) {
  struct stat s{};
  return ::fstat(fd, &s) == 0 && S_ISSOCK(s.st_mode);
}

}  // namespace

// The connections to which was sent while one of this thread read. They are written when its messages have been
// handled, without a turn of their own, which would cost a look at all descriptors between the read and the writes.
class stream_core::turn {
 public:
  turn() noexcept { current_ = this; }
  // After an exception the writes get turns of their own.
  ~turn() {
    current_ = nullptr;
    for (auto& core : sent_to()) post(std::move(core));
    sent_to().clear();
  }
  turn(const turn&) = delete;
  turn& operator=(const turn&) = delete;

  // Lets `core` be flushed when the turn of this thread ends, or posts its flush where there is none.
  static void take(std::shared_ptr<stream_core> core) {
    if (current_ != nullptr)
      sent_to().push_back(std::move(core));
    else
      post(std::move(core));
  }

  // Writes. Handlers that this calls are no part of the turn: a flush for them is posted. Returns true if there was
  // something to write.
  bool end() {
    current_ = nullptr;
    auto& cores = sent_to();
    const std::size_t count = cores.size();
    for (std::size_t i = 0; i < count; ++i) std::exchange(cores[i], nullptr)->flush();
    cores.clear();
    return count != 0;
  }

 private:
  static void post(std::shared_ptr<stream_core> core) {
    if (!core) return;
    const auto executor = core->in_.get_executor();
    asio::post(executor, [self = std::move(core)] { self->flush(); });
  }
  static std::vector<std::shared_ptr<stream_core>>& sent_to() {
    thread_local std::vector<std::shared_ptr<stream_core>> cores;
    return cores;
  }
  static thread_local turn* current_;
};

thread_local stream_core::turn* stream_core::turn::current_ = nullptr;

stream_core::stream_core(const asio::any_io_executor& executor, int read_fd, int write_fd,
                         rpc::line_framer::options framing)
    : in_(executor), read_fd_(read_fd), write_fd_(write_fd), framer_(std::in_place, framing) {
  prepare(read_fd);
  in_.assign(read_fd);
  if (write_fd != read_fd) {
    prepare(write_fd);
    out_.emplace(executor, write_fd);
  }
  write_is_socket_ = is_socket(write_fd);
}

stream_core::~stream_core() {
  if (wide_socket_) --wide_sockets;
}

void stream_core::start(transport_events& events) {
  if (!open_ || events_) return;
  events_ = &events;
  post_turn();
}

// Reading.

void stream_core::post_turn() {
  if (turn_posted_ || ended_ || !events_) return;
  turn_posted_ = true;
  asio::post(in_.get_executor(), [self = shared_from_this()] {
    self->turn_posted_ = false;
    self->read_turn();
  });
}

void stream_core::wait_readable() {
  if (waiting_) return;
  waiting_ = true;
  in_.async_wait(asio::posix::stream_descriptor::wait_read,
                 [self = shared_from_this()](const boost::system::error_code& failed) {
                   self->waiting_ = false;
                   if (self->ended_ || failed == asio::error::operation_aborted) return;
                   // A regular file or /dev/null cannot be waited for; it is always ready.
                   if (!failed || failed == asio::error::operation_not_supported) return self->read_turn();
                   self->fail({errc::io, "waiting for input: " + failed.message()});
                 });
}

// Reads once per turn, so that a peer that floods leaves time for the others.
void stream_core::read_turn() {
  const bool to_the_end = drained_ || write_error_;
  if (ended_ || (paused_ && !to_the_end)) return;
  if (half_closed_) return write_error_ ? fail(*write_error_) : void();
  bool full = false, wrote = false;
  {
    turn now;
    full = read_once();
    wrote = now.end();
  }
  if (ended_ || half_closed_) return;
  if (write_error_ && ++turns_after_error_ >= turns_after_write_error) return fail(*write_error_);
  if (full || drained_ || write_error_) return post_turn();
  if (paused_) return;
  // Waiting costs a system call, so handlers that the messages just read have posted run first. Messages that were
  // passed on have none.
  if (wrote) return wait_readable();
  asio::post(in_.get_executor(), [self = shared_from_this()] {
    if (!self->ended_ && !self->paused_ && !self->half_closed_) self->wait_readable();
  });
}

// Reads once. Returns true if more bytes may be there. Ends the connection or the draining itself.
bool stream_core::read_once() {
  auto buffer = framer_->room(read_turn_bytes);
  if (buffer.empty()) buffer = shared_read_buffer();
  buffer = buffer.first(read_size(buffer.size()));
  ssize_t n = 0;
  do n = ::read(read_fd_, buffer.data(), buffer.size());
  while (n < 0 && errno == EINTR);
  if (n < 0) {
    if (errno == EAGAIN || errno == EWOULDBLOCK) {
      reading_blocked();
    } else if (errno == ECONNRESET) {
      end_of_stream();
    } else {
      fail({errc::io, std::string("reading: ") + std::strerror(errno)});
    }
    return false;
  }
  if (n == 0) {
    end_of_stream();
    return false;
  }
  feeding_ = true;
  framer_->feed({buffer.data(), static_cast<std::size_t>(n)}, *this);
  feeding_ = false;
  if (ended_) {
    framer_.reset();
    return false;
  }
  if (framer_->held() > 256 * 1024 && !std::exchange(widened_in_, true)) widen_pipe(read_fd_);
  return static_cast<std::size_t>(n) == buffer.size();
}

void stream_core::reading_blocked() {
  if (write_error_) return fail(*write_error_);
  finish_draining();
}

// Handles the end of input. The sending side stays open: a caller that has sent everything may still wait for answers.
void stream_core::end_of_stream() {
  feeding_ = true;
  framer_->finish(*this);
  feeding_ = false;
  if (ended_) return framer_.reset();
  half_closed_ = !out_ && !write_error_ && !has_hung_up(read_fd_) && events_->on_input_end();
  if (ended_ || half_closed_) framer_.reset();
  if (ended_) return;
  if (half_closed_) return wait_for_hangup();
  boost::system::error_code ignored;
  if (out_) in_.close(ignored);
  report_end(closed_by_peer);
}

// Waits until a half-closed socket is closed altogether. Such a socket is always readable, so readability says nothing.
void stream_core::wait_for_hangup() {
  in_.async_wait(asio::posix::stream_descriptor::wait_error,
                 [self = shared_from_this()](const boost::system::error_code& failed) {
                   if (self->ended_ || failed == asio::error::operation_aborted) return;
                   if (failed || has_hung_up(self->read_fd_)) return self->report_end(closed_by_peer);
                   self->wait_for_hangup();
                 });
}

void stream_core::on_message(rpc::message&& m) {
  if (!ended_) events_->on_message(std::move(m));
}

void stream_core::on_fault(rpc::message_fault f) {
  if (!ended_) events_->on_fault(std::move(f));
}

void stream_core::pause_reading(bool paused) {
  paused_ = paused;
  if (!paused) post_turn();
}

void stream_core::drain(std::function<void()> done) {
  drained_ = std::move(done);
  if (reading_ended()) {
    asio::post(in_.get_executor(), [self = shared_from_this()] { self->finish_draining(); });
  } else {
    post_turn();
  }
}

void stream_core::finish_draining() {
  if (auto done = std::exchange(drained_, nullptr)) done();
}

// Writing.

void stream_core::send(const json::segments& text) {
  if (!open_ || sending_ended_ || write_error_) return;
  outbox_.push(text);
  if (!flushing_ && !held_) post_flush();
}

// A flush that is posted or waits for the descriptor takes the bytes along.
void stream_core::release() {
  held_ = false;
  if (!flushing_ && !outbox_.empty()) flush();
}

void stream_core::post_flush() {
  flushing_ = true;
  turn::take(shared_from_this());
}

void stream_core::flush() {
  flushing_ = false;
  if (!open_) return;
  const bool had_bytes = !outbox_.empty();
  std::size_t written = 0;
  while (!outbox_.empty()) {
    std::array<iovec, 64> pieces;
    const std::size_t count = outbox_.gather(pieces.data(), pieces.size());
    ssize_t n = 0;
    do {
      if (write_is_socket_ && count == 1) {
        n = ::send(write_fd_, pieces[0].iov_base, pieces[0].iov_len, MSG_NOSIGNAL);  // less to copy for the kernel
      } else if (write_is_socket_) {
        msghdr m{};
        m.msg_iov = pieces.data();
        m.msg_iovlen = count;
        n = ::sendmsg(write_fd_, &m, MSG_NOSIGNAL);
      } else {
        n = ::writev(write_fd_, pieces.data(), static_cast<int>(count));
      }
    } while (n < 0 && errno == EINTR);
    if (n < 0) {
      if (errno != EAGAIN && errno != EWOULDBLOCK) return write_failed(errno);
      if (!widened_out_ && outbox_.size() > 64 * 1024) {
        widened_out_ = true;
        if (write_is_socket_)
          wide_socket_ = widen_socket(write_fd_);
        else
          widen_pipe(write_fd_);
        continue;
      }
      flushing_ = true;
      auto& out = out_ ? *out_ : in_;
      out.async_wait(asio::posix::stream_descriptor::wait_write,
                     [self = shared_from_this()](const boost::system::error_code& failed) {
                       if (failed == asio::error::operation_aborted) return;
                       self->flush();
                     });
      return;
    }
    outbox_.consume(static_cast<std::size_t>(n));
    written += static_cast<std::size_t>(n);
    // A peer that reads as fast as we write must not hold the thread until a large outbox is empty.
    if (written >= write_bytes_per_turn && !outbox_.empty()) return post_flush();
  }
  if (sending_ended_) shut_sending();
  if (had_bytes && events_ && !ended_) events_->on_drained();
}

void stream_core::finish_sending() {
  if (!open_ || sending_ended_) return;
  sending_ended_ = true;
  if (!flushing_) post_flush();
}

void stream_core::shut_sending() {
  if (std::exchange(sending_shut_, true)) return;
  if (out_) {
    boost::system::error_code ignored;
    out_->close(ignored);
  } else {
    ::shutdown(write_fd_, SHUT_WR);
  }
}

// Handles a peer that no longer reads. Bytes it sent before (a last answer, then exit) are still read; then the
// connection ends.
void stream_core::write_failed(int number) {
  outbox_.clear();
  write_error_ = error{errc::io, std::string("writing: ") + std::strerror(number)};
  post_turn();
}

// The end.

void stream_core::fail(error why) {
  const auto alive = shared_from_this();
  outbox_.clear();
  boost::system::error_code ignored;
  in_.close(ignored);
  if (out_) out_->close(ignored);
  open_ = false;
  report_end(why);
}

void stream_core::report_end(const error& why) {
  if (std::exchange(ended_, true)) return;
  framer_.reset();
  if (drained_) asio::post(in_.get_executor(), [self = shared_from_this()] { self->finish_draining(); });
  if (events_) events_->on_closed(why);
}

void stream_core::close() {
  if (!open_) return;
  open_ = false;
  boost::system::error_code ignored;
  in_.close(ignored);
  if (out_) out_->close(ignored);
  outbox_.clear();
  if (std::exchange(ended_, true)) return;
  if (!feeding_) framer_.reset();
  // close() may be called from anywhere, so `done` of drain() gets a turn of its own.
  if (drained_) asio::post(in_.get_executor(), [self = shared_from_this()] { self->finish_draining(); });
}

}  // namespace mcpbx::mcp::transports

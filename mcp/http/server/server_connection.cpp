// State machine of one connection: reads a request, sends its answer, begins again. A read is always pending, or the
// socket is looked at from time to time, so that the end of the caller is noticed while its answer is being made.
#include "mcp/http/server/server_connection.hpp"

#include "mcp/http/server/answer_bytes.hpp"
#include "mcp/http/server/request_buffer.hpp"
#include "mcp/http/stream_socket.hpp"
#include "mcp/support/read_size.hpp"
#include "mcp/support/shared_bytes.hpp"

#include <boost/asio/buffer.hpp>
#include <boost/asio/error.hpp>
#include <boost/asio/post.hpp>

#include <poll.h>
#include <sys/socket.h>

#include <algorithm>
#include <optional>

namespace mcpbx::http::servers {
namespace {

namespace asio = boost::asio;

// Time for which bytes behind a final answer are read and dropped, so that the answer arrives (RFC 9112, section 9.6).
// Many callers read no answer before they have sent their whole body, so that a body far above its limit is read.
constexpr milliseconds linger_time{2'000}, longest_linger{30'000};  // without a byte, and in all
// A body that is too large is read on, because a sender that does not look for an answer would lose it.
constexpr std::size_t linger_bytes = std::size_t{1} << 20, linger_bytes_of_413 = std::size_t{256} << 20;

/// Time between two looks for the end of a caller from which no more is read.
constexpr milliseconds look_gap{1'000};

}  // namespace

class server_connection::impl : public std::enable_shared_from_this<impl> {
 public:
  impl(const asio::any_io_executor& executor, time_source& time, int fd, server_limits l, server_events& events)
      : socket_(executor), time_(time), limits_(l), events_(&events), timer_(time.make_timer()) {
    sockaddr_storage name{};
    socklen_t size = sizeof name;
    if (::getsockname(fd, reinterpret_cast<sockaddr*>(&name), &size) != 0) name.ss_family = AF_UNIX;
    boost::system::error_code ignored;
    local_ = name.ss_family == AF_UNIX;
    socket_.assign(asio::generic::stream_protocol(name.ss_family, 0), fd, ignored);
    socket_.non_blocking(true, ignored);
    parser_.emplace(limits_.size);
  }
  impl(const impl&) = delete;
  impl& operator=(const impl&) = delete;

  void start() {
    since_ = time_.now();
    arm();
    read();
  }

  void answer(server_answer a) {
    if (phase_ != phase::answering) return;
    bytes_.append_head(a.status, a.headers, !keep_, time_.wall_ms());
    bytes_.append("Content-Length: " + std::to_string(a.body.size()) + "\r\n\r\n");
    if (!without_body_) bytes_.append(a.body);
    answered();
  }

  void answer_last(server_answer a) {
    if (phase_ != phase::answering) return;
    keep_ = false;
    answer(std::move(a));
  }

  bool resting() const { return idle() && buffer_.empty() && !parser_->begun(); }

  void begin(int status, const std::vector<header>& headers) {
    if (phase_ != phase::answering) return;
    chunks_ = parser_->takes_chunks();
    // For a caller of HTTP/1.0, which knows no chunks, the end of the connection ends the body.
    keep_ = keep_ && chunks_;
    bytes_.append_head(status, headers, !keep_, time_.wall_ms());
    bytes_.append(chunks_ ? "Transfer-Encoding: chunked\r\n\r\n" : "\r\n");
    phase_ = phase::streaming;
    flush();
  }

  void send(std::string_view part, bool alone = false) {
    if (phase_ != phase::streaming || part.empty()) return;
    if (chunks_)
      bytes_.append_chunk(part);
    else
      bytes_.append(part);
    flush(alone);
  }

  void finish(bool whole) {
    if (phase_ != phase::streaming) return;
    if (whole && chunks_) bytes_.append("0\r\n\r\n");
    keep_ = keep_ && whole;
    answered();
  }

  std::size_t unsent() const { return bytes_.unsent(); }

  std::uint64_t taken() const { return bytes_.taken(); }

  void close() {
    if (phase_ == phase::closed) return;
    phase_ = phase::closed;
    events_ = nullptr;
    timer_->cancel();
    boost::system::error_code ignored;
    socket_.close(ignored);
    bytes_.drop_waiting();
  }

 private:
  enum class phase : std::uint8_t {
    reading,    // reads a request, or waits for its first byte
    answering,  // the answer has not begun
    streaming,  // the answer has begun and goes on
    ending,     // the last answer is being sent
    lingering,  // the last answer was sent; the caller may still be sending
    closed
  };

  bool open() const { return phase_ != phase::closed; }

  // Reading.

  void read() {
    if (reading_ || input_ended_ || !open()) return;
    // While an answer goes on, which may take long, nothing but the caller's end is expected.
    const auto space = buffer_.space(phase_ != phase::reading);
    // Full of later requests; reading continues at their turn.
    if (space.empty()) return look_later();
    looks_at_ = never;
    reading_ = true;
    socket_.async_read_some(asio::buffer(space.data(), read_size(space.size())),
                            [self = shared_from_this()](const boost::system::error_code& ec, std::size_t n) {
                              self->reading_ = false;
                              if (self->open()) self->on_read(ec, n);
                            });
  }

  void on_read(const boost::system::error_code& ec, std::size_t n) {
    if (phase_ == phase::lingering) {
      lingered_ += n;
      const auto now = time_.now();
      if (ec || lingered_ > most_lingered_ || now >= lingers_since_ + longest_linger) return leave("");
      since_ = now;
      return read();
    }
    if (ec && phase_ == phase::ending) return end_of_input();
    if (ec == asio::error::eof && only_half_closed()) return half_closed();
    // A caller that closes does not wait for an answer.
    if (ec) return leave("");
    buffer_.add(n);
    if (phase_ == phase::reading) parse();
    read();
  }

  // Notes the end of input: the caller has sent all, but the last answer may still be on its way.
  void end_of_input() { input_ended_ = true; }

  // Returns true if the caller still reads. Only a Unix socket can tell that.
  bool only_half_closed() {
    if (!local_) return false;
    pollfd end{.fd = socket_.native_handle(), .events = 0, .revents = 0};
    return ::poll(&end, 1, 0) == 0;
  }

  void look_later() {
    if (phase_ == phase::reading || looks_at_ != never) return;
    looks_at_ = time_.now() + look_gap;
    arm();
  }

  // Returns true if the caller has closed the connection behind bytes that have not been read.
  bool has_left() {
    pollfd end{.fd = socket_.native_handle(), .events = static_cast<short>(local_ ? 0 : POLLRDHUP), .revents = 0};
    return ::poll(&end, 1, 0) != 0;
  }

  // Answers what the caller has sent, and leaves then, or as soon as it closes the other half.
  void half_closed() {
    end_of_input();
    keep_ = keep_ && !buffer_.empty();
    if (idle()) return leave("");
    socket_.async_wait(asio::socket_base::wait_error, [weak = weak_from_this()](const boost::system::error_code& ec) {
      if (const auto self = weak.lock(); self && !ec && self->open()) self->leave("");
    });
  }
  // Returns true if there is nothing to answer and nothing to send.
  bool idle() const { return phase_ == phase::reading && unsent() == 0; }

  // Begins the next request when the previous answer has left, so that a caller that pipelines without reading holds
  // one answer at most.
  void parse() {
    if (unsent() > 0 && !parser_->begun()) return;
    using verdict = request_parser::verdict;
    for (;;) {
      if (!parser_->begun()) buffer_.drop_line_ends();
      if (!buffer_.empty() && !parser_->begun()) {
        since_ = time_.now();
        arm();
      }
      std::size_t used = 0;
      const auto v = parser_->put(buffer_.waiting(), used);
      buffer_.drop(used);
      switch (v) {
        case verdict::need_more:
          if (buffer_.waiting().size() == request_buffer::largest)
            return refuse(431, "a line of it is longer than 64 KiB");
          if (parser_->body_bytes() > byte_account::small_message && !byte_account::has_room(0))
            return refuse(503, "mcpbx holds too many bytes to take its body now");
          return;
        case verdict::head:
          if (!take_head()) return;
          break;
        case verdict::done:
          return take_request();
        case verdict::wrong:
          return refuse(400, "this is not a request of HTTP/1.1: " + parser_->why());
        case verdict::head_too_large:
          return refuse(431, "its headers are larger than " + std::to_string(limits_.size.head) + " bytes");
        case verdict::body_too_large:
          // An announced length is refused together with the head, whose other faults come first.
          if (!head_taken_ && !take_head(false)) return;
          return refuse(413, "its body is larger than " + std::to_string(limits_.size.body) + " bytes");
      }
    }
  }

  bool take_head(bool body_wanted = true) {
    head_taken_ = true;
    without_body_ = parser_->head().method == "HEAD";
    auto refused = events_->on_head(parser_->head());
    if (!open()) return false;
    if (refused) {
      last_answer(std::move(*refused));
      return false;
    }
    if (body_wanted && parser_->waits_to_continue()) {
      bytes_.append("HTTP/1.1 100 Continue\r\n\r\n");
      flush();
    }
    return true;
  }

  void take_request() {
    keep_ = parser_->keep_alive() && (!input_ended_ || !buffer_.empty());
    phase_ = phase::answering;
    arm();
    events_->on_request(parser_->take_head(), parser_->take_body());
  }

  void refuse(int status, const std::string& what) {
    auto last = events_->on_fault(status, what);
    if (open()) last_answer(std::move(last));
  }

  void last_answer(server_answer a) {
    keep_ = false;
    phase_ = phase::answering;
    if (a.status == 413) most_lingered_ = linger_bytes_of_413;
    answer(std::move(a));
  }

  // Answers.

  // Finishes an answer. The next request may be in the buffer already.
  void answered() {
    phase_ = keep_ ? phase::reading : phase::ending;
    without_body_ = head_taken_ = false;
    since_ = time_.now();
    flush();
    if (phase_ != phase::reading) return end_if_all_left();
    parser_.emplace(limits_.size);
    arm();
    if (buffer_.empty() && reading_ && !input_ended_) return;  // the read that is pending goes on
    asio::post(socket_.get_executor(), [self = shared_from_this()] { self->go_on(); });
  }

  // Ends the connection in a later turn, since no event may come from inside of finish(), if no write is pending whose
  // end would do so: all parts of the last answer have left before.
  void end_if_all_left() {
    if (writing_) return;
    asio::post(socket_.get_executor(), [self = shared_from_this()] {
      if (self->phase_ == phase::ending && !self->writing_) self->linger();
    });
  }

  void go_on() {
    if (phase_ == phase::reading && !buffer_.empty()) parse();
    // The rest of a request will not come.
    if (input_ended_ && phase_ == phase::reading && unsent() == 0) return leave("");
    read();
  }

  void flush(bool at_once = false) {
    bytes_.account();
    if (writing_ || !bytes_.any_waiting() || !open()) return;
    bytes_.begin_write();
    if ((at_once || phase_ == phase::reading) && left_at_once()) return;
    stalled_since_ = time_.now();
    writing_ = true;
    arm();
    write();
  }

  // Writes in this turn, which saves an event and a timer if the socket takes all. The rest, and every fault, is left
  // to write().
  bool left_at_once() {
    boost::system::error_code ec;
    const auto rest = bytes_.to_write();
    const auto n = socket_.write_some(asio::buffer(rest.data(), rest.size()), ec);
    if (ec || !bytes_.written(n, kept_memory())) return false;
    bytes_.account();
    return true;
  }

  // Keeps no memory of a large answer for small ones, and none for a silent stream.
  std::size_t kept_memory() const { return phase_ == phase::streaming ? small_ : large_; }

  void write() {
    const auto rest = bytes_.to_write();
    socket_.async_write_some(asio::buffer(rest.data(), rest.size()),
                             [self = shared_from_this()](const boost::system::error_code& ec, std::size_t n) {
                               if (self->open()) self->on_written(ec, n);
                             });
  }

  void on_written(const boost::system::error_code& ec, std::size_t n) {
    if (ec) return leave("");
    stalled_since_ = time_.now();
    if (!bytes_.written(n, kept_memory())) return write();
    writing_ = false;
    if (bytes_.any_waiting()) return flush();
    bytes_.account();
    arm();
    if (phase_ == phase::streaming) return events_->on_drained();
    if (phase_ == phase::ending) return linger();
    go_on();
  }

  void linger() {
    if (input_ended_) return leave("");
    phase_ = phase::lingering;
    since_ = lingers_since_ = time_.now();
    arm();
    buffer_.drop_all();
    boost::system::error_code ignored;
    socket_.shutdown(asio::socket_base::shutdown_send, ignored);
    read();
  }

  void leave(const std::string& why) {
    auto* const told = std::exchange(events_, nullptr);
    close();
    if (told != nullptr) told->on_left(why);
  }

  // Limits, with one timer.

  time_point deadline() const {
    auto first = never;
    if (writing_) first = stalled_since_ + limits_.stall;
    if (phase_ == phase::reading)
      first = std::min(first, since_ + (parser_->begun() || !buffer_.empty() ? limits_.request : limits_.keep));
    if (phase_ == phase::lingering) first = std::min(first, since_ + linger_time);
    return std::min(first, looks_at_);
  }

  void arm() {
    const auto when = deadline();
    // A timer that is armed for an earlier time will do, since on_timer() checks again.
    if (when == never || (armed_ != never && armed_ <= when)) return;
    armed_ = when;
    timer_->arm(when, [weak = weak_from_this()] {
      if (const auto self = weak.lock()) self->on_timer();
    });
  }

  void on_timer() {
    armed_ = never;
    if (!open()) return;
    const auto now = time_.now();
    if (now >= looks_at_) {
      if (has_left()) return leave("");
      looks_at_ = now + look_gap;
    }
    if (now < deadline()) return arm();
    if (writing_ && now >= stalled_since_ + limits_.stall)
      return leave("the caller took nothing of its answer for " + std::to_string(limits_.stall.count() / 1000) + " s");
    if (phase_ == phase::reading && parser_->begun())
      return refuse(408, "it was not complete within " + std::to_string(limits_.request.count() / 1000) + " s");
    leave("");
  }

  static constexpr std::size_t large_ = 256u << 10, small_ = 1u << 10;

  stream_socket socket_;
  time_source& time_;
  server_limits limits_;
  server_events* events_;  // null after on_left
  std::unique_ptr<timer> timer_;
  time_point armed_ = never;
  request_buffer buffer_;
  std::optional<request_parser> parser_;
  phase phase_ = phase::reading;
  time_point since_, stalled_since_, lingers_since_;
  time_point looks_at_ = never;  // while no more is read
  answer_bytes bytes_;
  std::size_t lingered_ = 0, most_lingered_ = linger_bytes;
  bool reading_ = false, writing_ = false, input_ended_ = false;
  bool local_ = false;  // a Unix socket
  bool keep_ = false, chunks_ = false, without_body_ = false;
  bool head_taken_ = false;  // events_ has seen the head of the present request
};

server_connection::server_connection(const asio::any_io_executor& executor, time_source& time, int fd, server_limits l,
                                     server_events& events)
    : impl_(std::make_shared<impl>(executor, time, fd, l, events)) {}

server_connection::~server_connection() {
  impl_->close();
}

void server_connection::start() {
  impl_->start();
}
void server_connection::answer(server_answer a) {
  impl_->answer(std::move(a));
}
void server_connection::answer_last(server_answer a) {
  impl_->answer_last(std::move(a));
}
bool server_connection::resting() const noexcept {
  return impl_->resting();
}
void server_connection::begin(int status, std::vector<header> headers) {
  impl_->begin(status, headers);
}
void server_connection::send(std::string_view part) {
  impl_->send(part);
}
void server_connection::send_alone(std::string_view part) {
  impl_->send(part, true);
}
void server_connection::finish(bool whole) {
  impl_->finish(whole);
}
std::size_t server_connection::unsent() const noexcept {
  return impl_->unsent();
}
std::uint64_t server_connection::taken() const noexcept {
  return impl_->taken();
}
void server_connection::close() {
  impl_->close();
}

}  // namespace mcpbx::http::servers

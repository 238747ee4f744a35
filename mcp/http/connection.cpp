// The exchange as a sequence of completion handlers. Each of them first asks whether the connection was closed
// meanwhile: a user may leave inside any event.
#include "mcp/http/connection.hpp"

#include "mcp/http/gathered.hpp"

#include <boost/asio/buffer.hpp>
#include <boost/asio/error.hpp>
#include <boost/asio/ssl/error.hpp>
#include <boost/asio/write.hpp>

#include <sys/socket.h>

#include <algorithm>
#include <cstring>
#include <utility>

namespace mcpbx::http {

namespace asio = boost::asio;
using asio::ip::tcp;

namespace {

constexpr std::size_t first_buffer = 16 * 1024, largest_buffer = 64 * 1024;
// The first read of an answer is short, so that the first token is not kept waiting for a buffer full of others.
constexpr std::size_t first_read = 4 * 1024;
// A header or chunk line that does not fit into this is none.
constexpr std::size_t longest_line = 128 * 1024;

std::string seconds(milliseconds limit) {
  const auto ms = limit.count();
  auto text = std::to_string(ms / 1000);
  if (ms % 1000 != 0) text += "." + std::to_string(ms % 1000 / 100);
  return text + " s";
}

bool is_identity(std::string_view encoding) {
  return encoding.empty() || encoding == "identity";
}

}  // namespace

connection::connection(asio::any_io_executor executor, time_source& time, std::weak_ptr<connection_owner> owner,
                       url_parts origin)
    : executor_(std::move(executor)),
      time_(time),
      owner_(std::move(owner)),
      origin_(std::move(origin)),
      socket_(executor_),
      timer_(time.make_timer()) {}

void connection::open(std::shared_ptr<task> t) {
  task_ = std::move(t);
  task_->line = weak_from_this();
  stage_ = http::stage::resolve;
  arm(deadline());
  const auto owner = owner_.lock();
  if (!owner) return fail(http::stage::resolve, errc::cancelled, "was not asked: the client is shutting down");
  owner->resolve(origin_, [self = shared_from_this()](result<connection_owner::endpoints> found) {
    if (self->closed_) return;
    if (!found) return self->fail(http::stage::resolve, errc::unavailable, "is not known: " + found.error().message);
    self->endpoints_ = *std::move(found);
    self->stage_ = http::stage::connect;
    self->connect_next();
  });
}

void connection::connect_next() {
  if (next_endpoint_ == endpoints_.size())
    return fail(http::stage::connect, errc::unavailable, "could not be reached: " + last_connect_error_);
  const auto left = endpoints_.size() - next_endpoint_;
  const auto& to = endpoints_[next_endpoint_++];
  const auto now = time_.now();
  // One address that swallows packets must not use up the time of the others.
  attempt_until_ =
      left == 1 ? never : now + std::max<duration>((deadline() - now) / static_cast<int>(left), milliseconds(1));
  arm(deadline());
  boost::system::error_code ec;
  socket_.close(ec);
  const int fd = ::socket(to.protocol().family(), SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
  if (fd < 0)
    ec.assign(errno, boost::system::system_category());
  else
    socket_.assign(to.protocol(), fd, ec);
  if (ec) {
    last_connect_error_ = ec.message();
    return connect_next();
  }
  socket_.async_connect(to, [self = shared_from_this()](const boost::system::error_code& failed) {
    if (self->closed_) return;
    if (failed) {
      self->last_connect_error_ =
          failed == asio::error::operation_aborted ? "it did not answer in time" : failed.message();
      return self->connect_next();
    }
    boost::system::error_code ignored;
    self->socket_.set_option(tcp::no_delay(true), ignored);
    self->attempt_until_ = never;
    if (self->origin_.tls)
      self->start_tls();
    else
      self->send();
  });
}

void connection::start_tls() {
  stage_ = http::stage::tls;
  const auto owner = owner_.lock();
  if (!owner) return fail(http::stage::tls, errc::cancelled, "was not asked: the client is shutting down");
  owner->with_tls([self = shared_from_this()](result<tls_context> context) {
    if (self->closed_) return;
    if (!context)
      return self->fail(http::stage::tls, context.error().code, "cannot be asked: " + context.error().message);
    self->context_ = *context;
    auto stream = make_tls_stream(self->socket_, self->context_, self->origin_.host);
    if (!stream) return self->fail(http::stage::tls, stream.error().code, "cannot be asked: " + stream.error().message);
    self->tls_ = *std::move(stream);
    self->tls_->async_handshake(asio::ssl::stream_base::client, [self](const boost::system::error_code& ec) {
      if (self->closed_) return;
      if (ec) return self->fail(http::stage::tls, errc::unavailable, "was refused: " + tls_failure(*self->tls_, ec));
      self->send();
    });
  });
}

void connection::reuse(std::shared_ptr<task> t) {
  task_ = std::move(t);
  task_->line = weak_from_this();
  reused_ = true;
  keep_until_ = never;
  send();
}

void connection::send() {
  stage_ = http::stage::send;
  stage_began_ = time_.now();
  any_byte_ = false;
  parser_.emplace(static_cast<parser_sink&>(*this), task_->request.limits.max_body);
  arm(deadline());
  sending_ = true;
  auto sent = [self = shared_from_this(), t = task_](const boost::system::error_code& ec, std::size_t) {
    self->sending_ = false;
    // After a failed write the pending read tells what happened; the peer may have answered before it closed.
    if (self->closed_ || ec || self->task_ != t || self->stage_ != http::stage::send) return;
    self->stage_ = http::stage::first_byte;
    self->stage_began_ = self->time_.now();
  };
  if (tls_) {
    // One record instead of one per piece.
    if (!task_->request.body.empty()) task_->head += task_->request.body.str();
    asio::async_write(*tls_, asio::buffer(task_->head), std::move(sent));
  } else {
    task_->request.body = gathered(task_->request.body);
    std::vector<asio::const_buffer> all;
    all.reserve(task_->request.body.pieces().size() + 1);
    all.push_back(asio::buffer(task_->head));
    for (const auto& piece : task_->request.body.pieces()) all.push_back(asio::buffer(piece.text()));
    asio::async_write(socket_, all, std::move(sent));
  }
  start_read();
}

void connection::start_read() {
  if (reading_ || closed_) return;
  if (begin_ == end_) begin_ = end_ = 0;
  if (begin_ > 0) {
    std::memmove(buffer_.data(), buffer_.data() + begin_, end_ - begin_);
    end_ -= begin_;
    begin_ = 0;
  }
  if (buffer_.empty())
    buffer_.resize(first_buffer);
  else if (end_ == buffer_.size())
    buffer_.resize(buffer_.size() * 2);
  reading_ = true;
  auto done = [self = shared_from_this()](const boost::system::error_code& ec, std::size_t n) { self->on_read(ec, n); };
  room_ = buffer_.size() - end_;
  if (!any_byte_) room_ = std::min(room_, first_read);
  const auto space = asio::buffer(buffer_.data() + end_, room_);
  if (tls_)
    tls_->async_read_some(space, std::move(done));
  else
    socket_.async_read_some(space, std::move(done));
}

void connection::on_read(const boost::system::error_code& ec, std::size_t n) {
  reading_ = false;
  if (closed_) return;
  const auto self = shared_from_this();
  if (!task_) return close();  // closed by the peer while it waited in the pool, or bytes that nobody asked for
  if (ec) return ended(ec);
  const bool filled = n == room_ && any_byte_;
  end_ += n;
  any_byte_ = true;
  stage_ = http::stage::body;
  stage_began_ = time_.now();
  parse();
  if (closed_) return;
  if (end_ - begin_ >= longest_line)
    return fail(http::stage::body, errc::protocol, "sent a header line above the limit");
  if (begin_ == end_ && filled && buffer_.size() < largest_buffer) {
    begin_ = end_ = 0;
    buffer_.resize(buffer_.size() * 2);
  }
  start_read();
}

void connection::parse() {
  using verdict = response_parser::verdict;
  while (begin_ < end_ && task_) {
    std::size_t used = 0;
    body_begin_ = body_end_ = begin_;
    const auto v = parser_->put({buffer_.data() + begin_, end_ - begin_}, used);
    begin_ += used;
    if (closed_ || v == verdict::stopped) return;
    deliver();
    if (closed_) return;
    switch (v) {
      case verdict::need_more:
        task_->events->on_pause();
        return;
      case verdict::done:
        if (parser_->status() / 100 != 1) return complete();
        parser_.emplace(static_cast<parser_sink&>(*this),
                        task_->request.limits.max_body);  // an interim answer; the real one follows
        break;
      case verdict::too_large:
        return fail(http::stage::body, errc::limit,
                    "sent an answer above the limit of " + std::to_string(task_->request.limits.max_body) + " bytes");
      case verdict::wrong:
        return fail(http::stage::body, errc::protocol, "sent an answer that is not HTTP: " + parser_->why());
      case verdict::stopped:
        return;
    }
  }
}

void connection::ended(const boost::system::error_code& ec) {
  const bool eof = ec == asio::error::eof;
  if (any_byte_ && eof && parser_->put_eof() == response_parser::verdict::done) return complete();
  const std::string what = eof || ec == asio::ssl::error::stream_truncated ? std::string() : ": " + ec.message();
  if (any_byte_) return fail(http::stage::body, errc::io, "closed the connection in the middle of its answer" + what);
  if (reused_ && !task_->retried) {
    // It had closed the connection while that waited in the pool: nothing was lost.
    auto t = std::move(task_);
    t->retried = true;
    const auto owner = owner_.lock();
    close();
    if (owner) return owner->run_fresh(std::move(t));
    task_ = std::move(t);
  }
  fail(sending_ ? http::stage::send : http::stage::first_byte, errc::io,
       "closed the connection without an answer" + what);
}

bool connection::on_parsed_head(int status, std::vector<header> headers) {
  if (!is_identity(find_header(headers, "content-encoding"))) {
    fail(http::stage::body, errc::protocol, "sent a compressed answer, which was not asked for");
    return false;
  }
  task_->events->on_head(status, headers);
  return !closed_;
}

void connection::on_parsed_body(std::string_view bytes) {
  // Chunks of one read are moved together, over what was parsed already, and handed on as one.
  const auto from = static_cast<std::size_t>(bytes.data() - buffer_.data());
  if (body_begin_ == body_end_)
    body_begin_ = body_end_ = from;
  else if (body_end_ != from)
    std::memmove(buffer_.data() + body_end_, bytes.data(), bytes.size());
  body_end_ += bytes.size();
}

void connection::deliver() {
  if (body_begin_ == body_end_) return;
  const auto from = std::exchange(body_begin_, body_end_);
  task_->events->on_body({buffer_.data() + from, body_end_ - from});
}

void connection::complete() {
  const auto t = std::exchange(task_, nullptr);
  auto* const events = std::exchange(t->events, nullptr);
  const auto owner = owner_.lock();
  const bool keep = begin_ == end_ && !sending_ && parser_->keep_alive() && owner;
  any_byte_ = false;  // the read that waits while this is pooled is the first of the next answer
  if (!keep || !owner->take_back(shared_from_this())) close();
  events->on_end();
}

void connection::fail(http::stage at, errc code, std::string what) {
  const auto self = shared_from_this();
  const auto t = std::exchange(task_, nullptr);
  close();
  if (!what.ends_with('.')) what += '.';
  if (auto* const events = std::exchange(t->events, nullptr))
    events->on_failure({at, {code, origin_.authority + " " + what}});
}

void connection::close() {
  if (std::exchange(closed_, true)) return;
  task_.reset();
  timer_->cancel();
  boost::system::error_code ignored;
  socket_.close(ignored);
  if (const auto owner = owner_.lock()) owner->forget(this);
}

void connection::abandon(const task* t) {
  const auto self = shared_from_this();
  if (task_.get() == t) close();
}

void connection::keep_until(time_point when) {
  keep_until_ = when;
  arm(when);
}

time_point connection::deadline() const {
  if (!task_) return keep_until_;
  const auto& l = task_->request.limits;
  const auto total = task_->started + l.total;
  switch (stage_) {
    case http::stage::resolve:
    case http::stage::connect:
    case http::stage::tls:
      return std::min({total, task_->started + l.connect, attempt_until_});
    case http::stage::send:
    case http::stage::first_byte:
      return std::min(total, stage_began_ + l.first_byte);
    case http::stage::body:
      return std::min(total, stage_began_ + l.idle);
  }
  return total;
}

void connection::arm(time_point when) {
  // Armed earlier than needed is good enough: on_timer() looks again. So most exchanges never touch the timer.
  if (when == never || (armed_ != never && armed_ <= when)) return;
  armed_ = when;
  timer_->arm(when, [weak = weak_from_this()] {
    if (const auto self = weak.lock()) self->on_timer();
  });
}

void connection::on_timer() {
  armed_ = never;
  if (closed_) return;
  if (time_.now() < deadline()) return arm(deadline());
  if (!task_) return close();
  on_time_limit();
}

void connection::on_time_limit() {
  const auto& l = task_->request.limits;
  const auto now = time_.now();
  if (now >= task_->started + l.total)
    return fail(stage_, errc::timed_out,
                "was not done within " + seconds(l.total) + " (the limit on the whole answer)");
  switch (stage_) {
    case http::stage::resolve:
    case http::stage::connect:
    case http::stage::tls:
      if (now < task_->started + l.connect) {
        // This address only; the pending connect ends and the next one has its turn.
        attempt_until_ = never;
        arm(deadline());
        boost::system::error_code ignored;
        socket_.close(ignored);
        return;
      }
      return fail(stage_, errc::timed_out,
                  "could not be reached within " + seconds(l.connect) + " (the limit on connecting)");
    case http::stage::send:
    case http::stage::first_byte:
      return fail(stage_, errc::timed_out,
                  "did not begin to answer within " + seconds(l.first_byte) + " (the limit for the first byte)");
    case http::stage::body:
      return fail(stage_, errc::timed_out,
                  "fell silent for " + seconds(l.idle) + " in the middle of its answer (the idle limit)");
  }
}

}  // namespace mcpbx::http

// One exchange as a sequence of completion handlers. Each handler first checks that the connection is still open,
// because the user may leave inside any event.
#include "mcp/http/client/client_connection.hpp"

#include "mcp/http/client/gathered.hpp"
#include "mcp/redact/cut_text.hpp"
#include "mcp/support/read_size.hpp"
#include "mcp/support/recycled.hpp"

#include <boost/asio/bind_allocator.hpp>
#include <boost/asio/buffer.hpp>
#include <boost/asio/error.hpp>
#include <boost/asio/post.hpp>
#include <boost/asio/ssl/error.hpp>
#include <boost/asio/write.hpp>

#include <algorithm>
#include <charconv>
#include <cstddef>
#include <utility>

namespace mcpbx::http::clients {

namespace asio = boost::asio;

namespace {

// Longest body that is sent in one piece with the head.
constexpr std::size_t small_body = 4 * 1024;
// Longest header or chunk line in bytes.
constexpr std::size_t longest_line = 128 * 1024;
// Time after sending within which the close of a pooled connection means that the peer has not seen the request.
constexpr milliseconds stale_within{500};

// Time by which a connection leaves the pool before its peer would close it.
constexpr milliseconds before_peer_closes{1'000};

// Returns the words for an answer above the limit. For gzip bodies the limit is the decompressed size.
std::string above_limit(std::size_t limit) {
  return "sent an answer above the limit of " + std::to_string(limit) + " bytes";
}

}  // namespace

client_connection::client_connection(asio::any_io_executor executor, time_source& time,
                                     std::weak_ptr<connection_owner> owner, std::shared_ptr<const route> route)
    : executor_(std::move(executor)),
      time_(time),
      owner_(std::move(owner)),
      route_(std::move(route)),
      socket_(executor_),
      timer_(time.make_timer()) {}

void client_connection::reuse(std::shared_ptr<task> t) {
  task_ = std::move(t);
  task_->line = weak_from_this();
  reused_ = true;
  keep_until_ = never;
  send();
}

void client_connection::send() {
  stage_ = stage::send;
  stage_began_ = time_.now();
  any_byte_ = false;
  parser_.emplace(static_cast<parser_sink&>(*this), task_->request.limits.max_body);
  packed_.reset();
  sending_ = true;
  task_->sent = false;
  if (tls_)
    send_record();
  else
    send_pieces();
  arm(deadline());
  start_read();
}

// Returns the handler of a write that ends in a later turn.
auto client_connection::when_sent() {
  return [self = shared_from_this(), t = task_](const boost::system::error_code& ec, std::size_t) {
    self->sending_ = false;
    // After a failed write the pending read reports the reason: the peer may have answered before it closed.
    auto sent = std::exchange(self->record_, {});
    wipe(sent);
    if (self->closed_ || ec || self->task_ != t || self->stage_ != stage::send) return;
    t->sent = true;
    self->stage_ = stage::first_byte;
    self->stage_began_ = self->time_.now();
  };
}

// Sends all pieces as one TLS record. The task keeps its pieces, because it may have to be sent again.
void client_connection::send_record() {
  record_ = task_->head;
  if (!task_->request.body.empty()) record_ += task_->request.body.str();
  asio::async_write(*tls_, asio::buffer(record_), when_sent());
}

// Sends in this turn what the socket takes, which is all of most requests, and the rest later. A fault shows itself
// later, too, since no event may come from inside of start().
void client_connection::send_pieces() {
  json::segments& body = task_->request.body;
  if (body.size() <= small_body) {
    // A copy costs less than the system's work for one more piece. The head has all of the request from now on.
    const auto small = std::exchange(body, {});
    for (const auto& piece : small.pieces()) task_->head.append(piece.text());
  } else {
    body = gathered(body);
  }
  boost::system::error_code ec;
  if (!socket_.non_blocking()) socket_.non_blocking(true, ec);
  std::size_t taken = 0;
  if (!ec)
    taken = body.empty() ? socket_.write_some(asio::buffer(task_->head), ec) : socket_.write_some(all_pieces(), ec);
  if (taken < task_->head.size() + body.size()) return send_rest(taken);
  sending_ = false;
  task_->sent = true;
  stage_ = stage::first_byte;
}

std::vector<asio::const_buffer> client_connection::all_pieces() const {
  std::vector<asio::const_buffer> all;
  all.reserve(task_->request.body.pieces().size() + 1);
  all.push_back(asio::buffer(task_->head));
  for (const auto& piece : task_->request.body.pieces()) all.push_back(asio::buffer(piece.text()));
  return all;
}

// Sends what is behind the first `taken` bytes.
void client_connection::send_rest(std::size_t taken) {
  auto left = all_pieces();
  const auto first = std::ranges::find_if(left, [&](const asio::const_buffer& b) {
    if (taken < b.size()) return true;
    taken -= b.size();
    return false;
  });
  left.erase(left.begin(), first);
  left.front() += taken;
  asio::async_write(socket_, left, when_sent());
}

void client_connection::start_read() {
  if (!reading_ && !closed_ && !held_back_ && may_read()) read_some();
}

// Asks the gate for permission to read. While it waits, the idle limit does not count, and the gate keeps the
// connection alive, since no read is pending.
bool client_connection::may_read() {
  if (!task_ || stage_ != stage::body || !task_->place || task_->place->is_free()) return true;
  held_back_ = !task_->place->may_read([self = shared_from_this()] {
    if (self->closed_ || !self->held_back_) return false;
    self->held_back_ = false;
    self->stage_began_ = self->time_.now();
    self->arm(self->deadline());
    self->read_some();
    return true;
  });
  return !held_back_;
}

void client_connection::read_some() {
  const auto room = buffer_.room(any_byte_);
  room_ = read_size(room.size());
  reading_ = true;
  auto done = [self = shared_from_this()](const boost::system::error_code& ec, std::size_t n) { self->on_read(ec, n); };
  const auto space = asio::buffer(room.data(), room_);
  if (tls_)
    tls_->async_read_some(space, std::move(done));
  else
    // The read waits as long as the exchange, and there are many: its memory is used again.
    socket_.async_read_some(space, asio::bind_allocator(recycling_allocator<std::byte>(), std::move(done)));
}

void client_connection::on_read(const boost::system::error_code& ec, std::size_t n) {
  reading_ = false;
  buffer_.came(n);
  if (closed_) return;
  const auto self = shared_from_this();
  if (!task_) return close();  // in the pool: the peer closed, or sent bytes without a request
  if (ec) return ended(ec);
  const bool filled = n == room_ && any_byte_;
  any_byte_ = true;
  const bool first = std::exchange(stage_, stage::body) != stage::body;
  stage_began_ = time_.now();
  if (first) arm(deadline());  // the idle limit may be the shorter one; later bytes only move it on
  parse();
  // The end of the answer may have begun the next exchange on this connection, whose read uses this buffer.
  if (closed_ || reading_) return;
  if (buffer_.unparsed().size() >= longest_line)
    return fail(stage::body, errc::protocol, "sent a header line above the limit");
  if (filled) buffer_.widen();
  if (!first && task_) return start_read();
  // Let the first bytes reach the user before a whole buffer is read and parsed. In the pool the owner begins the read.
  if (task_) asio::post(executor_, [self] { self->start_read(); });
}

void client_connection::parse() {
  using verdict = response_parser::verdict;
  while (!buffer_.empty() && task_) {
    std::size_t used = 0;
    buffer_.begin_parse();
    const auto v = parser_->put(buffer_.unparsed(), used);
    buffer_.parsed(used);
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
        return fail(stage::body, errc::limit, above_limit(task_->request.limits.max_body));
      case verdict::wrong:
        return fail(stage::body, errc::protocol, "sent an answer that is not HTTP: " + parser_->why());
      case verdict::stopped:
        return;
    }
  }
}

void client_connection::ended(const boost::system::error_code& ec) {
  const bool eof = ec == asio::error::eof;
  if (any_byte_ && eof && parser_->put_eof() == response_parser::verdict::done) return complete();
  const std::string what = eof || ec == asio::ssl::error::stream_truncated ? std::string() : ": " + ec.message();
  if (any_byte_) return fail(stage::body, errc::io, "closed the connection in the middle of its answer" + what);
  if (reused_ && task_->request.repeat_stale && !task_->retried && time_.now() - stage_began_ <= stale_within) {
    // The peer had closed the connection while it was in the pool, so the request was not seen.
    auto t = std::move(task_);
    t->retried = true;
    const auto owner = owner_.lock();
    close();
    if (owner) return owner->run_fresh(std::move(t));
    task_ = std::move(t);
  }
  // With TLS 1.3 the verdict on our certificate comes after the handshake, and before the request is looked at.
  if (!reused_ && !client_certificate_failure(ec).empty()) return handshake_failed(ec);
  fail(sending_ ? stage::send : stage::first_byte, errc::io, "closed the connection without an answer" + what);
}

// Reads for how long the peer keeps the connection ("timeout=5"), so that it leaves the pool before.
void client_connection::note_keep_alive(std::string_view value) {
  constexpr std::string_view key = "timeout=";
  const auto at = value.find(key);
  int seconds = 0;
  if (at == std::string_view::npos) return;
  const auto text = value.substr(at + key.size());
  const auto [stop, ec] = std::from_chars(text.data(), text.data() + text.size(), seconds);
  if (ec == std::errc() && stop != text.data() && seconds >= 0)
    kept_by_peer_ = std::max(milliseconds(0), milliseconds(1'000) * seconds - before_peer_closes);
}

bool client_connection::on_parsed_head(int status, std::vector<header> headers) {
  const auto coding = find_header(headers, "content-encoding");
  note_keep_alive(find_header(headers, "keep-alive"));
  if (!task_->request.refuse_packed && (is_word(coding, "gzip") || is_word(coding, "x-gzip"))) {
    packed_ = std::make_unique<gunzip>(task_->request.limits.max_body);
  } else if (!coding.empty() && !is_word(coding, "identity")) {
    fail(stage::body, errc::protocol,
         "sent an answer in a compression that was not asked for (\"" + redact::cut_for_people(coding, 40) + "\")");
    return false;
  }
  task_->events->on_head(status, headers);
  return !closed_;
}

void client_connection::on_parsed_body(std::string_view bytes) {
  buffer_.join(bytes);
}

void client_connection::deliver() {
  const std::string_view bytes = buffer_.take_body();
  if (bytes.empty()) return;
  if (!packed_) return task_->events->on_body(bytes);
  const auto v = packed_->put(bytes, [this](std::string_view plain) {
    task_->events->on_body(plain);
    return !closed_;
  });
  if (v == gunzip::verdict::too_large)
    fail(stage::body, errc::limit, above_limit(task_->request.limits.max_body) + " when unpacked");
  else if (v == gunzip::verdict::wrong)
    fail(stage::body, errc::protocol, "sent an answer that is not the gzip it claims to be");
}

void client_connection::complete() {
  if (packed_ && !packed_->complete()) return fail(stage::body, errc::io, "ended its packed answer in the middle");
  const auto t = std::exchange(task_, nullptr);
  t->place.reset();
  auto* const events = std::exchange(t->events, nullptr);
  const auto owner = owner_.lock();
  const bool keep = buffer_.empty() && !sending_ && parser_->keep_alive() && owner;
  any_byte_ = false;  // the read that is pending in the pool will be the first of the next answer
  if (keep && !reading_) buffer_.rest();
  if (owner && !sending_) owner->keep_text(std::move(t->head));
  if (!keep || !owner->take_back(shared_from_this())) close();
  events->on_end();
}

void client_connection::fail(stage at, errc code, std::string what) {
  const auto self = shared_from_this();
  const auto t = std::exchange(task_, nullptr);
  close();
  if (!what.ends_with('.')) what += '.';
  t->place.reset();
  if (auto* const events = std::exchange(t->events, nullptr)) events->on_failure({at, {code, subject() + " " + what}});
}

std::string client_connection::subject() const {
  return route_->to.label + (route_->via ? ", through the proxy " + route_->via->label + "," : "");
}

void client_connection::close() {
  if (std::exchange(closed_, true)) return;
  task_.reset();
  timer_->cancel();
  boost::system::error_code ignored;
  socket_.close(ignored);
  if (const auto owner = owner_.lock()) owner->forget(this);
}

void client_connection::abandon(const task* t) {
  const auto self = shared_from_this();
  if (task_.get() == t) close();
}

void client_connection::keep_until(time_point when) {
  keep_until_ = std::min(when, time_.now() + kept_by_peer_);
  arm(keep_until_);
}

}  // namespace mcpbx::http::clients

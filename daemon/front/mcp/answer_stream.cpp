// Writing of events. The queue holds what cannot leave, by the rules of every caller's outbox; this class is the
// transport that it fills. The owner may drop the stream inside of any call of the queue or the connection, so
// functions that make one hold the stream.
#include "daemon/front/mcp/answer_stream.hpp"

#include "daemon/front/mcp/accepted.hpp"
#include "mcp/support/log.hpp"

#include <boost/asio/post.hpp>

#include <array>
#include <charconv>
#include <utility>

namespace mcpbx::daemon::mcp_door {
namespace {

constexpr std::string_view json_type = "application/json", event_type = "text/event-stream";
constexpr std::string_view data_begin = "data: ", data_end = "\n\n";
/// Longest event whose memory is kept for the next one.
constexpr std::size_t longest_scratch = std::size_t{256} << 10;

}  // namespace

answer_stream::answer_stream(front::door_context& door, owner& told, options o)
    : door_(door), owner_(&told), options_(o), next_event_(o.first_event), changed_(door.time.now()) {}

void answer_stream::serve(const std::shared_ptr<routes::exchange>& x, std::vector<http::header> headers) {
  x_ = x;
  headers_ = std::move(headers);
  x->keep(shared_from_this());
  if (options_.patience != nullptr) options_.patience->begin(*this);
}

void answer_stream::on_waited() {
  const auto self = shared_from_this();
  begin();
}

void answer_stream::hold() {
  mcp::transports::transport& to = *this;
  front::outgoing_queue::owner& told = *this;
  if (!out_) out_ = std::make_unique<front::outgoing_queue>(door_.settings.outbox, door_.time, to, told);
  if (phase_ == phase::undecided) phase_ = phase::streaming;
}

void answer_stream::stream_to(const std::shared_ptr<routes::exchange>& x) {
  const auto self = shared_from_this();
  open_on(x);
  prime();
  out_->flush();
}

void answer_stream::resume(const std::shared_ptr<routes::exchange>& x, std::uint64_t after) {
  const auto self = shared_from_this();
  open_on(x);
  for (const auto& e : kept_)
    if (e.number > after && x_) write(e.number, e.text);
  if (!x_) return;
  if (phase_ == phase::over) return std::exchange(x_, nullptr)->finish();
  out_->flush();
}

// Begins the stream where the answer could still have been JSON. Returns false if there is no stream to write to.
bool answer_stream::begin() {
  if (phase_ == phase::streaming) return true;
  if (phase_ == phase::over || !x_) return false;
  open_on(std::exchange(x_, nullptr));
  prime();
  return true;
}

// Sends an empty event, so that the caller has an id for its next connection (2025-11-25, "Sending Messages to the
// Server").
void answer_stream::prime() {
  if (!options_.primed || !x_) return;
  x_->send("id: " + std::to_string(options_.number) + "-" + std::to_string(next_event_ - 1) +
           "\nretry: " + std::to_string(retry_ms) + "\ndata: \n\n");
}

void answer_stream::open_on(const std::shared_ptr<routes::exchange>& x) {
  // The earlier connection may have its next request ready, which may be about this stream, so it ends a turn later.
  if (auto earlier = std::exchange(x_, x)) {
    earlier->keep(nullptr);
    boost::asio::post(door_.executor, [earlier = std::move(earlier)] { earlier->finish(); });
  }
  stop_waiting();
  hold();
  changed_ = door_.time.now();
  x->keep(shared_from_this());
  auto headers = headers_;
  headers.push_back({"Content-Type", std::string(event_type)});
  headers.push_back({"Cache-Control", "no-cache"});
  headers.push_back({"X-Accel-Buffering", "no"});
  x->begin(200, std::move(headers));
}

void answer_stream::respond(const json::segments& text, int status) {
  const auto self = shared_from_this();
  if (phase_ == phase::over) return;
  if (phase_ == phase::streaming || (status == 200 && x_ && prefers_stream(x_->head().headers) && begin())) {
    out_->push(text, mcp::rpc::outgoing::response());
    return door_.watch_bytes();
  }
  complete();
  const auto x = std::exchange(x_, nullptr);
  if (!x) return;
  headers_.push_back({"Content-Type", std::string(json_type)});
  x->answer({status, std::move(headers_), text.str()});
}

void answer_stream::respond_nothing() {
  const auto self = shared_from_this();
  if (phase_ == phase::over) return;
  if (!begin()) return complete();  // the connection has left before
  end();
}

void answer_stream::push(const json::segments& text, mcp::rpc::outgoing what) {
  const auto self = shared_from_this();
  if (!begin()) return;
  out_->push(text, what);
  door_.watch_bytes();
}

void answer_stream::push_progress(std::uint64_t request, const json::segments& text) {
  const auto self = shared_from_this();
  if (begin()) out_->push_progress(request, text);
}

void answer_stream::push_merged(std::string key, const json::segments& text) {
  const auto self = shared_from_this();
  if (begin()) out_->push_merged(std::move(key), text);
}

void answer_stream::push_droppable(const json::segments& text) {
  const auto self = shared_from_this();
  if (!begin()) return;
  // Without a connection nobody reads; only messages that must reach the caller may then enter the queue.
  if (!out_->over() && (x_ || out_->bytes() < 2 * door_.settings.outbox.feed_below))
    out_->push(text, {});
  else
    ++dropped_;
}

void answer_stream::end() {
  if (phase_ != phase::over) complete();
  if (const auto x = std::exchange(x_, nullptr)) x->finish();
}

void answer_stream::keep_alive(time_point now) {
  if (phase_ != phase::streaming || !x_ || now < changed_ + longest_silence) return;
  changed_ = now;
  if (x_->unsent() == 0) x_->send(":\n\n");
}

void answer_stream::on_drained() {
  const auto self = shared_from_this();
  if (out_ && phase_ == phase::streaming) out_->flush();
}

void answer_stream::on_left() {
  const auto self = shared_from_this();
  x_ = nullptr;
  stop_waiting();
  changed_ = door_.time.now();
  if (phase_ != phase::over && owner_) owner_->on_lost(*this);
}

void answer_stream::send(const json::segments& text, mcp::rpc::outgoing what) {
  const auto event = next_event_++;
  changed_ = door_.time.now();
  if (options_.resumable) keep(event, text);
  if (x_) write(event, text);
  if (what.type != mcp::rpc::outgoing::kind::response) return;
  complete();
  // The queue calls this from inside, so it must not be destroyed here; the connection may.
  if (const auto x = std::exchange(x_, nullptr)) x->finish();
}

// Returns the queue's limit while there is no connection, so that it holds everything.
std::size_t answer_stream::unsent() const noexcept {
  return x_ ? x_->unsent() : door_.settings.outbox.feed_below;
}

void answer_stream::write(std::uint64_t event, const json::segments& text) {
  // All streams of a thread make their events in the same memory.
  thread_local std::string out;
  out.clear();
  if (options_.resumable) {
    std::array<char, 64> id{'i', 'd', ':', ' '};
    char* const end = id.data() + id.size();
    char* at = std::to_chars(id.data() + 4, end, options_.number).ptr;
    *at++ = '-';
    at = std::to_chars(at, end, event).ptr;
    *at++ = '\n';
    out.append(id.data(), at);
  }
  out += data_begin;
  for (const auto& piece : text.pieces()) out += piece.text();
  out += data_end;
  if (delivers_)
    x_->send_alone(out);
  else
    x_->send(out);
  if (out.capacity() > longest_scratch) std::string().swap(out);  // swaps, because an assignment keeps the memory
}

void answer_stream::keep(std::uint64_t event, const json::segments& text) {
  kept_.push_back({event, text});
  kept_bytes_ += text.size();
  while (!kept_.empty() && (kept_.size() > most_kept || kept_bytes_ > bytes_kept)) {
    if (kept_.size() == 1 && kept_bytes_ <= largest_kept) return;
    kept_bytes_ -= kept_.front().text.size();
    kept_.pop_front();
  }
}

// Marks the answer as complete and tells the owner in a later turn, since the queue or the owner may be the caller.
void answer_stream::complete() {
  phase_ = phase::over;
  stop_waiting();
  boost::asio::post(door_.executor, [weak = weak_from_this()] {
    const auto self = weak.lock();
    if (self && self->owner_) self->owner_->on_over(*self);
  });
}

void answer_stream::ask_flush() {
  const std::shared_ptr<front::news_round::outlet> self(shared_from_this(), this);
  if (door_.news.take(self)) return;
  boost::asio::post(door_.executor, [weak = weak_from_this()] {
    if (const auto kept = weak.lock()) kept->on_drained();
  });
}

// Each part is written by itself, so that the flush goes on until all have left or the connection takes no more.
void answer_stream::deliver() {
  if (!out_ || phase_ != phase::streaming) return;
  const auto self = shared_from_this();
  delivers_ = true;
  out_->flush();
  delivers_ = false;
}

void answer_stream::on_stuck(const std::string& why) {
  const auto self = shared_from_this();
  log::warn("caller (" + std::string("/mcp") + "): a stream is dropped: " + why);
  ++door_.counters.stuck;
  out_->close();
  kept_.clear();
  kept_bytes_ = 0;
  complete();
  if (const auto x = std::exchange(x_, nullptr)) x->finish(false);
  if (owner_) owner_->on_lost(*this);
}

}  // namespace mcpbx::daemon::mcp_door

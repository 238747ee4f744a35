// Routes what a session says to the streams of its requests.
#include "daemon/front/mcp/mcp_session.hpp"

#include "daemon/front/mcp/mcp_refusal.hpp"
#include "daemon/front/mcp/mcp_room.hpp"
#include "mcp/protocol/revisions.hpp"

#include <algorithm>
#include <charconv>
#include <optional>
#include <utility>
#include <vector>

namespace mcpbx::daemon::mcp_door {
namespace {

constexpr std::uint64_t own_number = 0;

struct event_id {
  std::uint64_t stream = 0, event = 0;
};

std::optional<event_id> read_event_id(std::string_view text) {
  event_id id;
  const char* const end = text.data() + text.size();
  auto read = std::from_chars(text.data(), end, id.stream);
  if (read.ec != std::errc{} || read.ptr == end || *read.ptr != '-') return {};
  read = std::from_chars(read.ptr + 1, end, id.event);
  if (read.ec != std::errc{} || read.ptr != end) return {};
  return id;
}

/// Returns the status of an answer without a stream: errors about the request itself are client errors of HTTP too.
int status_of(int error) {
  return error == mcp::rpc::code::invalid_request || error == mcp::rpc::code::parse_error ? 400 : 200;
}

}  // namespace

mcp_session::mcp_session(front::door_context& door, const mcp::callers::caller_session::options& o, std::string id,
                         mcp_identity who, pid_t pid, mcp::clients::call_scope_ptr scope)
    : mcp_host(door, std::move(who), pid, std::move(scope)),
      id_(std::move(id)),
      used_(door.time.now()),
      session_(*this, o),
      own_(make_stream(own_number, nullptr)) {
  own_->hold();
  door.news.enter(*this);
}

std::shared_ptr<answer_stream> mcp_session::make_stream(std::uint64_t number, patience* wait,
                                                        std::uint64_t first_event) {
  answer_stream::owner& told = *this;
  return std::make_shared<answer_stream>(
      door(), told,
      answer_stream::options{
          .number = number,
          .resumable = true,
          // Clients of older revisions take an event without data for a message.
          .primed = number == own_number || session_.revision() == mcp::protocol::revision::latest_legacy,
          .first_event = first_event,
          .patience = wait});
}

void mcp_session::post(const std::shared_ptr<routes::exchange>& x, mcp::rpc::message&& m) {
  const auto self = shared_from_this();
  used_ = door().time.now();
  if (m.type == mcp::rpc::message::kind::request || m.type == mcp::rpc::message::kind::batch)
    return answer_request(x, std::move(m));
  session_.on_message(std::move(m));
  x->answer({202, {}, {}});
}

void mcp_session::answer_request(const std::shared_ptr<routes::exchange>& x, mcp::rpc::message&& m) {
  if (m.type == mcp::rpc::message::kind::batch && session_.revision() != mcp::protocol::revision::with_batches)
    return x->refuse(refusal_answer(mcp_refusal::invalid_request(
        400, "invalid request: a batch is only possible in a session of revision 2025-03-26")));
  const bool begins = !session_.initialized();
  const auto first = session_.next_serial();
  const auto answer = make_stream(first, begins ? nullptr : &door().mcp->session_patience());
  posted_[first] = {answer, ~std::uint64_t{0}, nullptr};
  // The answer to `initialize` has the session's id as a header.
  answer->serve(x, begins ? std::vector<http::header>{{"Mcp-Session-Id", id_}} : std::vector<http::header>());
  session_.on_message(std::move(m));
  if (closed_) return;
  const auto found = posted_.find(first);
  if (found == posted_.end()) return;
  found->second.last = session_.next_serial() - 1;
  if (found->second.last >= first) return;
  // A batch without requests: the next POST has the same first serial.
  answer->disown();
  posted_.erase(found);
  if (!answer->over()) x->answer({202, {}, {}});
}

void mcp_session::get(const std::shared_ptr<routes::exchange>& x, std::string_view last_event,
                      std::shared_ptr<void> place) {
  const auto self = shared_from_this();
  used_ = door().time.now();
  if (last_event.empty()) {
    place_ = std::move(place);
    return own_->stream_to(x);
  }
  const auto id = read_event_id(last_event);
  if (id && id->stream == own_number) {
    place_ = std::move(place);
    return own_->resume(x, id->event);
  }
  const auto found = id ? posted_.find(id->stream) : posted_.end();
  if (found == posted_.end() || !found->second.answer->can_resume())
    return x->refuse(refusal_answer(mcp_refusal::invalid_request(
        400, "Last-Event-ID: this session has no such stream any more; open one without the header")));
  const auto answer = found->second.answer;
  found->second.place = std::move(place);
  answer->resume(x, id->event);
  if (!answer->connected()) release_place(*answer);
}

void mcp_session::release_place(const answer_stream& s) {
  const auto found = posted_.find(s.number());
  if (found != posted_.end() && found->second.answer.get() == &s) found->second.place.reset();
}

// Returns the stream of the POST that brought the request with this serial; null: there is none any more.
answer_stream* mcp_session::stream_of(std::uint64_t serial) const {
  const auto behind = posted_.upper_bound(serial);
  if (serial == 0 || behind == posted_.begin()) return nullptr;
  const auto& one = std::prev(behind)->second;
  return serial <= one.last ? one.answer.get() : nullptr;
}

answer_stream& mcp_session::stream_for(std::uint64_t serial) const {
  auto* const found = stream_of(serial);
  return found != nullptr && found->reachable() ? *found : *own_;
}

void mcp_session::send(const mcp::server::answered& what, const json::segments& text) {
  // An answer to no request is one to the batch that is being read, which is the last POST.
  auto* const answer = what.about != 0   ? stream_of(what.about)
                       : posted_.empty() ? nullptr
                                         : posted_.rbegin()->second.answer.get();
  if (answer == nullptr) return;
  const auto kept = answer->shared_from_this();
  if (!session_.initialized()) {
    failed_ = true;
    kept->drop_headers();
  }
  kept->respond(text, failed_ ? 400 : status_of(what.error));
}

void mcp_session::send_nothing(std::uint64_t about) {
  if (auto* const answer = stream_of(about)) answer->shared_from_this()->respond_nothing();
}

void mcp_session::send_progress(std::uint64_t serial, const json::segments& text) {
  if (auto* const answer = stream_of(serial); answer != nullptr && answer->reachable())
    answer->push_progress(serial, text);
}

void mcp_session::send_list_changed(const mcp::protocol::feature_kind& kind, const json::segments& text) {
  own_->push_merged(std::string(kind.capability), text);
}

void mcp_session::send_ask(std::uint64_t about, const json::segments& text, mcp::rpc::outgoing what) {
  stream_for(about).push(text, what);
}

void mcp_session::send_note(const mcp::server::note& n, const json::segments& text) {
  auto& stream = stream_for(n.about);
  if (!n.same.empty()) return stream.push_merged(std::to_string(n.about) + " " + std::string(n.same), text);
  if (n.droppable) return stream.push_droppable(text);
  stream.push(text, {});
}

// A connection that ends cancels nothing (2025-11-25, "Sending Messages to the Server").
void mcp_session::on_lost(answer_stream& s) {
  if (closed_) return;
  used_ = door().time.now();
  if (&s == own_.get()) {
    place_.reset();
    if (!s.over()) return;
    // It was dropped because nobody read it.
    own_ = make_stream(own_number, nullptr, s.next_event());
    own_->hold();
  }
  release_place(s);
  trim_lost();
}

void mcp_session::on_over(answer_stream& s) {
  if (closed_ || &s == own_.get()) return;
  used_ = door().time.now();
  release_place(s);
  // Kept for a while if its events can be asked for again.
  if (s.can_resume() && s.bytes() > 0) return trim_lost();
  s.disown();
  posted_.erase(s.number());
}

// Drops the oldest streams without a connection beyond the bounds.
void mcp_session::trim_lost() {
  std::size_t lost = 0, bytes = 0;
  for (auto it = posted_.end(); it != posted_.begin();) {
    --it;
    const auto& answer = *it->second.answer;
    if (answer.connected() || !answer.can_resume()) continue;
    ++lost;
    bytes += answer.bytes();
    if (lost == 1 || (lost <= most_lost && bytes <= most_lost_bytes)) continue;
    it->second.answer->disown();
    it = posted_.erase(it);
  }
}

void mcp_session::look_after(time_point now) {
  own_->keep_alive(now);
  for (auto it = posted_.begin(); it != posted_.end();) {
    auto& answer = *it->second.answer;
    answer.keep_alive(now);
    const bool old = !answer.connected() && answer.can_resume() && now >= answer.changed() + longest_lost;
    if (old) answer.disown();
    it = old ? posted_.erase(it) : std::next(it);
  }
  trim_lost();
}

void mcp_session::drop_lost() {
  for (auto it = posted_.begin(); it != posted_.end();) {
    const bool lost = !it->second.answer->connected() && it->second.answer->can_resume();
    if (lost) it->second.answer->disown();
    it = lost ? posted_.erase(it) : std::next(it);
  }
}

bool mcp_session::idle() const {
  return session_.open() == 0 && !own_->connected() &&
         std::ranges::none_of(posted_, [](const auto& one) { return one.second.answer->connected(); });
}

void mcp_session::close() {
  if (std::exchange(closed_, true)) return;
  leave();
  end_waits();
  session_.close();
  place_.reset();
  own_->disown();
  own_->end();
  for (auto& [serial, one] : std::exchange(posted_, {})) {
    one.answer->disown();
    one.answer->end();
  }
}

}  // namespace mcpbx::daemon::mcp_door

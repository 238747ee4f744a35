// Keeps the exchanges of one connection: messages out, answers in. Its beginning and its end are in remote_life.cpp.
#include "mcp/client/connect/remote/remote_core.hpp"

#include "mcp/client/connect/remote/event_channel.hpp"
#include "mcp/client/connect/remote/message_post.hpp"
#include "mcp/client/connect/remote/remote_words.hpp"
#include "mcp/protocol/extensions.hpp"
#include "mcp/protocol/header_params.hpp"
#include "mcp/support/log.hpp"

#include <algorithm>
#include <array>
#include <charconv>
#include <utility>

namespace mcpbx::mcp::remote {

bool posted_message::is_extra() const {
  return id == 0 && !response && !protocol::is_reserved_method(method);
}

bool posted_message::once() const {
  static constexpr std::array<std::string_view, 13> repeatable{"server/discover",
                                                               "initialize",
                                                               "ping",
                                                               "tools/list",
                                                               "prompts/list",
                                                               "resources/list",
                                                               "prompts/get",
                                                               "resources/read",
                                                               "completion/complete",
                                                               "resources/templates/list",
                                                               "tasks/get",
                                                               "tasks/list",
                                                               "subscriptions/listen"};
  return id != 0 && std::ranges::find(repeatable, method) == repeatable.end();
}

remote_core::remote_core(std::shared_ptr<remote_record> record, remote_spec spec, connect::link_events& link)
    : record_(std::move(record)), spec_(std::move(spec)), url_(spec_.url), link_(&link), soon_(time().make_timer()) {
  if (!http::find_header(spec_.headers, "authorization").empty()) spec_.tokens.reset();
  expect();
}

remote_core::~remote_core() = default;

std::string remote_core::unauthorized() const {
  const std::string wants = tokens() ? tokens()->sentence() : std::string();
  return wants.empty() ? unauthorized_text(!http::find_header(spec_.headers, "authorization").empty()) : wants;
}

// Messages out.

void remote_core::send(const json::segments& text, rpc::outgoing what) {
  if (!events_ || over_) return;
  if (what.type == rpc::outgoing::kind::cancellation) {
    const auto found = posts_.find(what.id);
    const bool waits = std::erase_if(waiting_, [&](const auto& m) { return m.id == what.id; }) > 0;
    if (waits) return;
    if (found != posts_.end()) {
      // For a modern server, closing the stream cancels the request (2026-07-28, "Cancellation"). An old one gets the
      // notification, and its stream is not needed afterwards.
      const auto cancelled = std::move(found->second);
      posts_.erase(found);
      cancelled->drop();
      if (cancelled->modern()) return look_at_expiry();
    } else if (modern_ || way_ == way::streamable) {
      return;  // it had ended
    }
  }
  posted_message m;
  m.body = text;
  m.modern = modern_;
  if (what.facts != nullptr) {
    m.method = what.facts->method;
    m.modern = what.facts->modern;
    m.name = what.facts->name;
    m.fields.assign(what.facts->fields.begin(), what.facts->fields.end());
    if (!what.facts->revision.empty() && !m.is("server/discover")) {
      if (revision_ != what.facts->revision) revision_ = what.facts->revision;
      modern_ = m.modern;
    }
    m.revision = what.facts->revision;
  } else {
    m.revision = revision_;
  }
  m.response = what.type == rpc::outgoing::kind::response;
  if (m.response) m.about = what.id;
  if (what.type == rpc::outgoing::kind::request) {
    m.id = what.id;
    if (m.is("server/discover")) {
      probe_ = m.id;
      probed_ = true;
    }
    if (m.is("initialize")) opening_ = m.id;
  }
  // The conversation knows the era now. An old revision that the entry insists on says nothing about the server, and
  // neither does a transport that it names.
  if (m.is("notifications/initialized")) {
    if (way_ == way::streamable ? probed_ : !spec_.events_first)
      note_way(way_ == way::streamable ? remote_way::legacy : remote_way::event_stream);
  } else if (!noted_ && m.modern && m.id != 0 && !m.is("server/discover")) {
    note_way(remote_way::modern);
  }
  // An answer to the other request that opens the conversation is not waited for any more.
  for (const auto left : {m.is("notifications/initialized") ? std::exchange(probe_, 0) : 0,
                          m.modern && !m.is("server/discover") ? std::exchange(opening_, 0) : 0})
    if (const auto found = posts_.find(left); left != 0 && found != posts_.end()) {
      found->second->drop();
      posts_.erase(found);
    }
  post(std::move(m));
}

void remote_core::post(posted_message m) {
  if (expiring_) {
    if (m.id != 0) expiry_.lost.push_back({m.id, {errc::unavailable, "was not sent: the session has ended"}, true});
    return;
  }
  if (way_ == way::events && m.is("server/discover"))
    return refuse_soon(m.id, errc::protocol, "is none of the deprecated transport", false);
  if (way_ == way::finding_events) {
    if (waiting_.size() >= most_notes) return refuse(std::move(m), "too many messages wait for the event stream");
    waiting_.push_back(std::move(m));
    if (!channel_) {
      channel_ = std::make_shared<event_channel>(shared_from_this(), true);
      channel_->start();
    }
    return;
  }
  if (must_wait(m)) {
    if (waiting_.size() >= most_posts) return refuse(std::move(m), "too many requests are open");
    waiting_.push_back(std::move(m));
    return;
  }
  // Notifications that a server leaves lying must not keep our answers from it, and the other way round.
  const auto alike =
      std::ranges::count_if(notes_, [&](const auto& n) { return n->is_response() == m.response && !n->is_extra(); });
  if (m.is_extra() && !has_room_for_extra(m.body.size())) return;
  if (m.id == 0 ? std::cmp_greater_equal(alike, most_notes) : posts_.size() >= most_posts) {
    const auto* const why = m.id != 0    ? "too many requests are open"
                            : m.response ? "too many answers are under way"
                                         : "too many notifications are under way";
    return refuse(std::move(m), why);
  }
  const auto id = m.id;
  m.answered_elsewhere = way_ == way::events;
  m.early = initializing_ && id != 0;
  auto one =
      make_recycled<message_post>(shared_from_this(), std::move(m), way_ == way::events ? endpoint_ : std::string());
  if (one->is("notifications/initialized") && !std::exchange(initializing_, true)) {
    handshake_timer_ = time().make_timer();
    handshake_timer_->arm(time().now() + handshake_wait, [weak = weak_from_this()] {
      if (const auto self = weak.lock()) self->handshake_waited();
    });
  }
  if (id == 0)
    notes_.push_back(one);
  else
    posts_.insert_or_assign(id, one);
  one->start();
}

// Returns true if few notifications of extensions are under way, whose number and size callers choose.
bool remote_core::has_room_for_extra(std::size_t bytes) const {
  std::size_t count = 0;
  for (const auto& n : notes_)
    if (n->is_extra()) {
      ++count;
      bytes += n->size();
    }
  return count == 0 || (count < most_extra && bytes <= most_extra_bytes);
}

// Each message has a connection of its own, on which it could arrive before the end of the handshake, and servers may
// refuse requests that do. A list does not wait for that, since it can be asked for again. Over the deprecated
// transport a refusal may be the end of the one stream.
bool remote_core::must_wait(const posted_message& m) const {
  return initializing_ && m.id != 0 && (m.in_turn || !m.asks_list() || way_ != way::streamable);
}

// Takes early requests that are still unanswered for ones that the server will not answer. Those that it has refused
// until a time of its choice, or that wait for a token, are not at the server.
void remote_core::handshake_waited() {
  const auto self = shared_from_this();
  handshake_over();
  std::vector<std::shared_ptr<message_post>> open;
  for (const auto& [id, one] : posts_) open.push_back(one);
  for (const auto& one : open)
    if (one->is_at_server()) one->came_too_early();
}

void remote_core::send_in_turn(message_post& post, posted_message m) {
  const auto self = shared_from_this();
  m.early = false;
  m.in_turn = true;
  post_ended(post, false);
  if (!over_) this->post(std::move(m));
}

http::clients::request remote_core::make_get(const std::string& last_id) const {
  http::clients::request r;
  r.method = "GET";
  r.url = url_;
  r.trust = spec_.trust;
  r.refuse_packed = true;
  constexpr milliseconds unlimited{std::chrono::hours(24 * 366)};
  r.limits = {spec_.connect_timeout, unlimited, unlimited, unlimited, std::size_t{1} << 60};
  r.headers.reserve(spec_.headers.size() + 5);
  r.headers.push_back({"Accept", "text/event-stream"});
  if (!session_.empty()) r.headers.push_back({"Mcp-Session-Id", session_});
  if (!revision_.empty() && way_ == way::streamable) r.headers.push_back({"MCP-Protocol-Version", revision_});
  if (!last_id.empty()) r.headers.push_back({"Last-Event-ID", last_id});
  r.headers.insert(r.headers.end(), spec_.headers.begin(), spec_.headers.end());
  add_token(r.headers);
  r.long_lived = true;
  r.may_move = false;  // it would keep a connection that the next call needs
  return r;
}

// Returns the headers that all messages of one revision and one session have.
std::shared_ptr<const http::clients::header_block> remote_core::common_headers(std::string_view revision,
                                                                               std::string_view session) {
  if (common_ && common_revision_ == revision && common_session_ == session) return common_;
  common_revision_ = revision;
  common_session_ = session;
  std::vector<http::header> all{{"Content-Type", "application/json"},
                                {"Accept", "application/json, text/event-stream"}};
  if (!revision.empty()) all.push_back({"MCP-Protocol-Version", common_revision_});
  if (!session.empty()) all.push_back({"Mcp-Session-Id", common_session_});
  all.insert(all.end(), spec_.headers.begin(), spec_.headers.end());
  return common_ = std::make_shared<const http::clients::header_block>(std::move(all));
}

http::clients::request remote_core::make_post(const posted_message& m, const std::string& url) {
  http::clients::request r;
  r.url = url;
  r.body = m.body;
  r.trust = spec_.trust;
  r.refuse_packed = true;
  r.repeat_stale = !m.once();
  r.long_lived = true;
  // The limits of a request are the conversation's; a notification must not stay for ever.
  const milliseconds longest = m.id != 0 ? milliseconds(std::chrono::hours(24 * 366)) : milliseconds(60'000);
  r.limits = {spec_.connect_timeout, longest, longest, longest, std::size_t{1} << 60};
  const bool streamable = way_ == way::streamable;
  const bool in_session = streamable && !m.modern && !m.is("initialize");
  r.common = common_headers(streamable ? std::string_view(m.revision) : std::string_view(),
                            in_session ? std::string_view(session_) : std::string_view());
  if (streamable && m.modern) {
    r.headers.reserve(m.fields.size() + 3);
    if (!m.method.empty()) r.headers.push_back({"Mcp-Method", m.method});
    if (!m.name.empty()) r.headers.push_back({"Mcp-Name", protocol::header_text(m.name)});
    for (const auto& [name, value] : m.fields) r.headers.push_back({"Mcp-Param-" + name, protocol::header_text(value)});
  }
  add_token(r.headers);
  return r;
}

void remote_core::add_token(std::vector<http::header>& headers) const {
  if (!tokens()) return;
  if (std::string value = tokens()->header(); !value.empty()) headers.push_back({"Authorization", std::move(value)});
}

// Does not send a message, and reports that in a later turn.
void remote_core::refuse(posted_message m, const std::string& why) {
  if (m.id != 0) return refuse_soon(m.id, errc::limit, "was not sent: " + why, true);
  const std::string how = "was not sent: " + why;
  note_undelivered(m, how);
  const auto asker = m.response ? posts_.extract(m.about) : decltype(posts_)::node_type();
  if (asker.empty()) return;
  asker.mapped()->drop();
  refuse_soon(m.about, errc::limit, message_post::unanswered(how), false);
}

void remote_core::refuse_soon(std::int64_t id, errc code, std::string why, bool unseen) {
  if (id == 0) return;
  refused_.push_back({id, {code, std::move(why)}, unseen});
  if (refused_.size() == 1)
    soon_->arm_next([weak = weak_from_this()] {
      if (const auto self = weak.lock()) self->tell_refused();
    });
}

void remote_core::tell_refused() {
  for (rpc::lost_request& one : std::exchange(refused_, {}))
    if (events_ && !over_) events_->on_lost(std::move(one));
}

// Messages in.

void remote_core::prove() {
  proven_ = true;
  record_->transport = way_ == way::streamable ? "streamable-http" : "sse";
}

void remote_core::deliver(rpc::message&& m, std::int64_t about) {
  if (!events_ || over_) return;
  if (!proven_) prove();
  if (!record_->problem.empty()) record_->problem.clear();
  if (!used_) used_ = m.type == rpc::message::kind::response && !is_number(m.id, opening_) && !is_number(m.id, probe_);
  m.about = about;
  if (m.type == rpc::message::kind::response && way_ == way::streamable && about != 0 && !is_number(m.id, about)) {
    // The answer came in the stream of another request, so the request's own stream is not needed any more.
    const std::string token(m.id.token());
    std::int64_t number = 0;
    std::from_chars(token.data(), token.data() + token.size(), number);
    const auto own = posts_.find(number);
    if (own != posts_.end() && rpc::rpc_id::number(number).token() == token) {
      const auto other = own->second;
      posts_.erase(own);
      other->drop();
    }
  }
  const auto self = shared_from_this();
  events_->on_message(std::move(m));
  if (events_ && !over_) events_->on_drained();
}

void remote_core::deliver_fault(rpc::message_fault&& f) {
  if (events_ && !over_) events_->on_fault(std::move(f));
}

void remote_core::take_session(std::string_view id) {
  constexpr std::size_t longest = 4096;
  const bool visible = std::ranges::all_of(id, [](char c) { return c >= 0x21 && c <= 0x7E; });
  session_ = visible && id.size() <= longest ? id : std::string_view();
}

void remote_core::post_ended(message_post& post, bool drain) {
  const auto found = posts_.find(post.id());
  if (found != posts_.end() && found->second.get() == &post) {
    if (drain) {
      draining_.emplace_back(time().now() + drain_grace, std::move(found->second));
      if (draining_.size() > most_notes) {
        draining_.front().second->drop();
        draining_.erase(draining_.begin());
      }
      arm_drain();
    }
    posts_.erase(found);
  } else if (!drain) {
    std::erase_if(draining_, [&](const auto& d) { return d.second.get() == &post; });
  }
  look_at_expiry();
}

void remote_core::arm_drain() {
  if (draining_.empty()) return;
  if (!drain_timer_) drain_timer_ = time().make_timer();
  drain_timer_->arm(draining_.front().first, [weak = weak_from_this()] {
    const auto self = weak.lock();
    if (!self) return;
    auto& all = self->draining_;
    while (!all.empty() && all.front().first <= self->time().now()) {
      all.front().second->drop();
      all.erase(all.begin());
    }
    self->arm_drain();
  });
}

void remote_core::note_ended(message_post& post, bool accepted) {
  const bool opens = post.is("notifications/initialized");
  std::erase_if(notes_, [&](const auto& n) { return n.get() == &post; });
  if (opens && accepted) initialized();
  if (opens) handshake_over();
  if (closing_ && !farewell_ && notes_.empty()) finish_soon();
}

// Asks for the session's stream before the calls that have waited: a server may have nothing else to ask its questions
// on, and takes a stream that begins in the middle of a call for one that resumes the call's.
void remote_core::initialized() {
  if (!std::exchange(initialized_, true)) listen();
  handshake_over();
}

void remote_core::undelivered(const posted_message& m, const std::string& why, bool surely) {
  if (over_ || closing_) return;
  note_undelivered(m, why);
  if (!m.response || !surely || m.about == 0) return;
  if (const auto found = posts_.find(m.about); found != posts_.end()) {
    const auto asker = found->second;
    asker->answer_refused(why);
  }
}

void remote_core::note_undelivered(const posted_message& m, const std::string& why) {
  if (!log_lines_.take(time().now())) return;
  const std::string what = m.response ? "an answer to its request" : m.method.empty() ? "a notification" : m.method;
  log::warn("tool server \"" + record_->server + "\": " + what + " " + why);
}

// Opens the stream of the session on which the server may speak without being asked.
void remote_core::listen() {
  if (over_ || closing_ || way_ != way::streamable || channel_) return;
  channel_ = std::make_shared<event_channel>(shared_from_this(), false);
  channel_->start();
}

void remote_core::lost(message_post& post, errc code, std::string why, bool unseen) {
  const auto self = shared_from_this();
  const auto id = post.id();
  if (code == errc::protocol && post.is("initialize")) {
    record_->problem = "protocol";
    forget_way();
  }
  post_ended(post, false);
  if (events_ && !over_) events_->on_lost({id, {code, std::move(why)}, unseen});
  if (events_ && !over_) events_->on_drained();
}

// The deprecated transport.

bool remote_core::try_events(posted_message m, std::string refusal) {
  if (std::exchange(events_tried_, true) || way_ != way::streamable) return false;
  const auto self = shared_from_this();
  refusal_ = std::move(refusal);
  if (const auto found = posts_.find(m.id); found != posts_.end()) {
    found->second->drop();
    posts_.erase(found);
  }
  way_ = way::finding_events;
  post(std::move(m));
  return true;
}

}  // namespace mcpbx::mcp::remote

// The beginning and the end of a connection: its address is known or not, it expires, it says goodbye.
#include "mcp/client/connect/remote/event_channel.hpp"
#include "mcp/client/connect/remote/farewell.hpp"
#include "mcp/client/connect/remote/message_post.hpp"
#include "mcp/client/connect/remote/remote_core.hpp"
#include "mcp/client/connect/remote/remote_words.hpp"
#include "mcp/http/url.hpp"
#include "mcp/support/keyed_hash.hpp"

#include <algorithm>
#include <string>
#include <string_view>
#include <utility>

namespace mcpbx::mcp::remote {

// Chooses the way to begin with: the entry says one, or earlier connections to this address, or of an address that
// nothing is known of, a neighbour. The other trials follow all the same.
void remote_core::expect() {
  if (const auto parts = http::parse_url(url_)) {
    origin_ = parts->origin;
    const std::string_view target = parts->target;
    const auto query = target.find('?');
    place_.assign(parts->origin).append(parts->socket.empty() ? "" : ":").append(target.substr(0, query));
    // Queries choose among servers, and may hold keys, which are kept nowhere.
    if (query != std::string_view::npos) place_ += '?' + std::to_string(keyed_hash()(target.substr(query)));
  }
  const auto now = time().now();
  known_ = record_->with.verdicts->of_address(place_, now);
  guessed_ = known_ == remote_way::unknown && !spec_.events_first &&
             record_->with.verdicts->of_origin(origin_, now) == remote_way::event_stream;
  if (guessed_ || spec_.events_first || known_ == remote_way::event_stream) way_ = way::finding_events;
}

// Keeps the verdict that this connection has found by itself. One that it began with does not count anew for being
// right, so that a server which has learned a newer revision is asked again some day.
void remote_core::note_way(remote_way found) {
  if (std::exchange(noted_, true) || place_.empty() || found == known_) return;
  record_->with.verdicts->note(origin_, place_, found, time().now());
}

void remote_core::forget_way() {
  if (std::exchange(known_, remote_way::unknown) != remote_way::unknown)
    record_->with.verdicts->forget(origin_, place_);
}

void remote_core::endpoint_known(std::string endpoint) {
  const auto self = shared_from_this();
  endpoint_ = std::move(endpoint);
  way_ = way::events;
  release_waiting();
}

void remote_core::handshake_over() {
  if (!std::exchange(initializing_, false)) return;
  const auto self = shared_from_this();
  release_waiting();
}

// Sends the messages that have waited.
void remote_core::release_waiting() {
  for (auto& m : std::exchange(waiting_, {}))
    if (!over_) post(std::move(m));
}

void remote_core::no_endpoint(std::string why, std::string_view problem, bool unreachable) {
  const auto self = shared_from_this();
  channel_.reset();
  const bool gone = unreachable || (!guessed_ && (problem == "unreachable" || problem == "certificate"));
  if (refusal_.empty() && !gone) {
    // The entry, an earlier connection or a neighbour said that it speaks the deprecated transport. The address that
    // the stream was redirected to may be a page for people.
    if (known_ == remote_way::event_stream) forget_way();
    if (guessed_) record_->with.verdicts->forget_origin(origin_);
    url_ = spec_.url;
    way_ = way::streamable;
    events_tried_ = true;
    return release_waiting();
  }
  if (gone) return not_opened(std::move(why), problem);
  not_opened("does not speak MCP over HTTP: " + refusal_ + ", and as a server of the older HTTP+SSE it " + why,
             "protocol");
}

// The end.

void remote_core::not_opened(std::string why, std::string_view problem, milliseconds wait, bool mend) {
  if (over_) return;
  const auto self = shared_from_this();
  record_->problem = problem;
  forget_way();  // a replaced server may refuse in any way
  if (mend) why += way_out(problem);
  clear();
  auto* const link = std::exchange(link_, nullptr);
  if (link != nullptr && !closing_) return link->on_not_opened({std::move(why), true, wait});
  if (link != nullptr) link->on_ended("was closed");
}

void remote_core::expire(const std::string& how, std::int64_t unseen) {
  if (over_ || closing_) return;
  if (unseen != 0) {
    expiry_.lost.push_back({unseen, {errc::unavailable, "was not looked at: the server " + how}, true});
    if (const auto found = posts_.find(unseen); found != posts_.end()) {
      const auto post = found->second;
      posts_.erase(found);
      post->drop();
    }
  }
  if (!std::exchange(expiring_, true)) {
    expiry_.how = how;
    expiry_timer_ = time().make_timer();
    expiry_timer_->arm(time().now() + expiry_grace, [weak = weak_from_this()] {
      if (const auto self = weak.lock()) self->report_expiry();
    });
    // Requests that are under way may learn of it, too, and are then sent again as well.
  }
  look_at_expiry();
}

void remote_core::look_at_expiry() {
  if (!expiring_ || over_) return;
  const bool waits = std::ranges::any_of(posts_, [](const auto& p) { return !p.second->has_head(); });
  if (!waits)
    expiry_timer_->arm_next([weak = weak_from_this()] {
      if (const auto self = weak.lock()) self->report_expiry();
    });
}

void remote_core::report_expiry() {
  if (over_) return;
  const auto self = shared_from_this();
  for (const auto& [id, one] : posts_)
    if (one->surely_unseen())
      expiry_.lost.push_back({id, {errc::unavailable, "was not sent: the server " + expiry_.how}, true});
  for (const auto& m : waiting_)
    if (m.id != 0) expiry_.lost.push_back({m.id, {errc::unavailable, "was not sent: the server " + expiry_.how}, true});
  clear();
  auto* const link = std::exchange(link_, nullptr);
  if (link != nullptr && !closing_) link->on_expired(std::move(expiry_));
}

void remote_core::ended(const std::string& how, std::string_view problem) {
  if (over_) return;
  const auto self = shared_from_this();
  record_->problem = problem;
  clear();
  if (auto* const link = std::exchange(link_, nullptr)) link->on_ended(how);
}

void remote_core::clear() {
  over_ = true;
  for (auto& [id, one] : std::exchange(posts_, {})) one->drop();
  for (auto& one : std::exchange(notes_, {})) one->drop();
  for (auto& [when, one] : std::exchange(draining_, {})) one->drop();
  if (channel_) std::exchange(channel_, nullptr)->drop();
  if (farewell_) std::exchange(farewell_, nullptr)->drop();
  waiting_.clear();
  refused_.clear();
  soon_->cancel();
  if (drain_timer_) drain_timer_->cancel();
  if (handshake_timer_) handshake_timer_->cancel();
  if (expiry_timer_) expiry_timer_->cancel();
}

void remote_core::close_transport() {
  events_ = nullptr;
  if (closing_ || over_) return;
  // The link decides about the end of the session; nobody waits for answers any more.
  waiting_.clear();
  for (auto& [id, one] : std::exchange(posts_, {})) one->drop();
  if (channel_) std::exchange(channel_, nullptr)->drop();
}

bool remote_core::end(connect::ending step) {
  if (over_) return link_ != nullptr;
  // A server that answered the opening only may have been replaced by one that the conversation refused.
  if (!used_) forget_way();
  if (!proven_ && guesses_events()) record_->with.verdicts->forget_origin(origin_);
  if (!proven_ && record_->problem.empty()) record_->problem = "slow";
  if (step != connect::ending::ask) {
    clear();
    finish_soon();
    return true;
  }
  if (std::exchange(closing_, true)) return true;
  waiting_.clear();
  for (auto& [id, one] : std::exchange(posts_, {})) one->drop();
  if (channel_) std::exchange(channel_, nullptr)->drop();
  std::erase_if(notes_, [](const auto& n) {
    if (n->waits()) n->drop();
    return n->waits();
  });
  if (!session_.empty()) {
    farewell_ = std::make_shared<farewell>(shared_from_this());
    farewell_->start();
  } else if (notes_.empty()) {
    finish_soon();
  }
  return true;
}

void remote_core::farewell_done() {
  farewell_.reset();
  if (notes_.empty()) finish_soon();
}

void remote_core::finish_soon() {
  soon_->arm_next([weak = weak_from_this()] {
    const auto self = weak.lock();
    if (!self) return;
    self->clear();
    if (auto* const link = std::exchange(self->link_, nullptr)) link->on_ended("was closed");
  });
}

void remote_core::drop() {
  link_ = nullptr;
  if (!over_) clear();
}

}  // namespace mcpbx::mcp::remote

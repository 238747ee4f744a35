// Sends a message again, or goes on where its stream was dropped: after a wait, with another token, at another address.
#include "mcp/client/connect/remote/message_post.hpp"
#include "mcp/client/connect/remote/remote_words.hpp"

#include <algorithm>
#include <string>
#include <string_view>
#include <utility>

namespace mcpbx::mcp::remote {

// Returns the wait before the message is sent again to a server that is busy.
milliseconds message_post::wait_asked() const {
  return asked_wait_ < milliseconds(0) ? milliseconds(1'000) * (1 << repetitions_) : asked_wait_;
}

// Asks the source of tokens whether the same message may be sent once more. The server has refused to look at it, so
// that nothing is done twice. Returns false without a source, or after too many refusals.
bool message_post::ask_for_token() {
  if (!core_->tokens() || ++refusals_ > most_refusals) return false;
  auto then = [weak = weak_from_this(), status = status_](bool again) {
    const auto self = weak.lock();
    if (!self || self->ended_ || self->core_->over()) return;
    if (std::exchange(self->asking_, false) && self->timer_) self->timer_->cancel();
    if (again) return self->resuming_ ? self->begin() : self->start();
    if (status == 401) return self->refused_for_good();
    self->refusals_ = most_refusals;
    if (self->resuming_) return self->judge_resumption();
    self->judge();
  };
  asking_ = true;
  if (resuming_ && status_ == 401)
    core_->tokens()->stream_refused(token_, std::move(then));
  else
    core_->tokens()->refused(status_, challenge_, token_, std::move(then));
  if (asking_ && !ended_ && !core_->proven()) limit_login();
  return true;
}

// Lets the opening of a connection wait for a login that nobody is asked for. One that waits for a person goes on
// without it: until then the server is one that wants a login, and not one that is slow.
void message_post::limit_login() {
  if (!timer_) timer_ = core_->time().make_timer();
  timer_->arm(core_->time().now() + longest_login, [this] {
    if (asking_ && !ended_ && !core_->over()) refused_for_good();
  });
}

void message_post::refused_for_good() {
  const auto self = shared_from_this();
  const std::string how = core_->unauthorized();
  if (resuming_) {
    not_resumed("the server " + how);
    return core_->expire(how, 0);
  }
  if (core_->proven()) return core_->expire(how, message_.id);
  core_->not_opened(how, "unauthorized");
}

void message_post::redirected(std::string_view location) {
  const auto self = shared_from_this();
  auto target = same_origin(url(), location);
  if (!target || ++redirects_ > most_redirects || status_ == 303 || status_ == 304) {
    const std::string status = " (HTTP status " + std::to_string(status_) + ")";
    const std::string how =
        location.empty() || status_ == 303 || status_ == 304
            ? "answers with a redirect that leads no request anywhere" + status + "; check the \"url\" of its entry"
        : !target ? "redirects to another address" + status +
                        ", and headers are not sent there; if that is right, write it as \"url\""
                  : "redirects in a circle" + status;
    if (!core_->proven() && message_.id != 0) return core_->not_opened(how, "refused");
    return lost(errc::peer, "was refused: the server " + how);
  }
  url_ = std::move(*target);
  moved_ = true;
  start();
}

// Lets later messages go where this one was answered. An address that gives no answer of MCP is none of the server's:
// a page for a login, for example, to which a server leads whose session with the gateway has run out.
void message_post::keep_address() {
  if (std::exchange(moved_, false)) core_->moved_to(url_);
}

void message_post::repeat_later(milliseconds wait) {
  ++repetitions_;
  http_.reset();
  if (!timer_) timer_ = core_->time().make_timer();
  timer_->arm(core_->time().now() + wait, [this] {
    const auto self = shared_from_this();
    if (!ended_) start();
  });
}

void message_post::stream_ended(const std::string& why) {
  const bool can_resume = !message_.modern && !reader_.events().last_id().empty();
  if (can_resume) return resume_later(why);
  if (!core_->proven() && !message_.is("server/discover"))
    return core_->not_opened("cannot be used: it " + why, "protocol");
  lost(errc::unavailable, why + (message_.once() ? ", and " + std::string(not_known) : ""));
}

// Plans the GET that goes on where the stream was dropped (2025-11-25, "Resumability and Redelivery").
void message_post::resume_later(const std::string& why) {
  if (resuming_ && status_ / 100 != 2 && ++resumptions_failed_ > most_resumptions_failed) return not_resumed(why);
  const bool brought = reader_.count() != count_before_;
  count_before_ = reader_.count();
  auto wait = pace_.next(core_->time().now(), reader_.events().retry(), brought || !resuming_);
  if (asked_wait_ > wait) wait = std::min(asked_wait_, longest_wait);
  resuming_ = true;
  status_ = 0;
  if (!timer_) timer_ = core_->time().make_timer();
  timer_->arm(core_->time().now() + wait, [this] { resume(); });
}

void message_post::resume() {
  const auto self = shared_from_this();
  if (!ended_) begin();
}

void message_post::not_resumed(const std::string& why) {
  lost(errc::unavailable, "could not be resumed, and " + std::string(not_known) + ": " + why);
}

void message_post::judge_resumption() {
  if ((status_ == 401 || status_ == 403) && ask_for_token()) return;
  if (status_ == 401) return refused_for_good();
  const std::string what = status_text(status_, error_);
  if (core_->has_session() && status_ == 404) {
    const auto self = shared_from_this();
    not_resumed("the session has ended (" + what + ")");
    return core_->expire("has ended the session (" + what + ")", 0);
  }
  if (status_ / 100 == 5 || status_ == 429 || status_ == 408) return resume_later(what);
  const std::string wants = status_ == 403 && core_->tokens() ? core_->tokens()->sentence() : std::string();
  not_resumed(what + (wants.empty() ? wants : "; the server " + wants));
}

}  // namespace mcpbx::mcp::remote

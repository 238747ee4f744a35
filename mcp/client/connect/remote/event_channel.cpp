// Opens such a stream, and opens it again when it is dropped.
#include "mcp/client/connect/remote/event_channel.hpp"

#include "mcp/client/connect/remote/remote_words.hpp"

#include <utility>

namespace mcpbx::mcp::remote {

event_channel::event_channel(std::shared_ptr<remote_core> core, bool deprecated)
    : core_(std::move(core)),
      deprecated_(deprecated),
      reader_(core_->framing(), static_cast<rpc::message_sink&>(*this)),
      timer_(core_->time().make_timer()) {
  if (deprecated_) reader_.want("endpoint");
}

void event_channel::start() {
  status_ = 0;
  if (core_->tokens()) token_ = core_->tokens()->header();
  http_ = core_->begin(core_->make_get(deprecated_ ? std::string() : reader_.events().last_id()), *this);
  if (!deprecated_) return;
  timer_->arm(core_->time().now() + (core_->guesses_events() ? guess_wait : endpoint_wait), [this] {
    const auto self = shared_from_this();
    if (ended_ || has_endpoint_) return;
    // A login waits for a person; until then the server is one that wants it.
    if (asking_ && !core_->proven()) return core_->not_opened(core_->unauthorized(), "unauthorized");
    broken("did not name an endpoint within 10 s", "slow", false);
  });
}

void event_channel::drop() {
  ended_ = true;
  http_.reset();
  timer_->cancel();
}

void event_channel::on_head(int status, const std::vector<http::header>& headers) {
  const auto self = shared_from_this();
  status_ = status;
  const bool events = http::is_word(media_type(http::find_header(headers, "content-type")), "text/event-stream");
  if (status == 200 && events) {
    failures_ = refusals_ = 0;
    opened_ = true;
    return reader_.begin(answer_reader::form::events);
  }
  // A POST hears of the same refusal.
  if (core_->guesses_events()) return broken("answered a GET with " + status_text(status, ""), "protocol", false);
  if (status == 401) {
    http_.reset();
    return refused(joined_headers(headers, "www-authenticate"));
  }
  if (deprecated_ && status / 100 == 3 && status != 304 && redirected(http::find_header(headers, "location"))) return;
  if (deprecated_)
    return broken("answered a GET with " + status_text(status, "") + (status == 200 ? " and no event stream" : ""),
                  "protocol", false);
  http_.reset();
  // A server without such a stream may say 404, too. If it was its session that has ended, the next request tells.
  if (status == 404 && opened_ && core_->has_session())
    return core_->expire("has ended the session (HTTP status 404)", 0);
  if (status / 100 == 5 || status == 408 || status == 429) return again();
  // 405: the server offers no such stream. Any other answer means the same to a client.
  drop();
}

// Goes where the server sends it within the origin, as a POST does: many servers add a slash to their paths. The stream
// of the newer transport does not: it would take the POSTs along, whose address has proven itself, and servers lead
// those who only look to a page for people.
bool event_channel::redirected(std::string_view location) {
  auto target = same_origin(core_->url(), location);
  if (!target || ++redirects_ > most_redirects) return false;
  http_.reset();
  core_->moved_to(std::move(*target));
  start();
  return true;
}

void event_channel::refused(std::string_view challenge) {
  const auto give_up = [this] {
    const auto self = shared_from_this();
    // The session is given up when a request of ours is refused, too: some servers refuse the stream alone.
    if (core_->proven() && !deprecated_) return drop();
    if (core_->proven()) return core_->expire(core_->unauthorized(), 0);
    core_->not_opened(core_->unauthorized(), "unauthorized");
  };
  if (!core_->tokens() || ++refusals_ > most_refusals) return give_up();
  auto then = [weak = weak_from_this(), give_up](bool again) {
    const auto self = weak.lock();
    if (!self || self->ended_ || self->core_->over()) return;
    self->asking_ = false;
    if (again) return self->start();
    give_up();
  };
  asking_ = true;
  if (core_->proven() && !deprecated_) return core_->tokens()->stream_refused(token_, std::move(then));
  core_->tokens()->refused(401, challenge, token_, std::move(then));
}

void event_channel::on_body(std::string_view bytes) {
  const auto self = shared_from_this();
  if (ended_ || reader_.present() != answer_reader::form::events) return;
  reader_.feed(bytes);
  if (ended_ || !deprecated_ || has_endpoint_) return;
  if (const std::string data = reader_.take_wanted(); !data.empty()) {
    auto endpoint = same_origin(core_->url(), data);
    if (!endpoint) return broken("named an endpoint at another address", "protocol", false);
    has_endpoint_ = true;
    timer_->cancel();
    core_->endpoint_known(std::move(*endpoint));
  }
}

void event_channel::on_end() {
  const auto self = shared_from_this();
  http_.reset();
  if (!ended_) broken("closed its event stream", "unreachable", false);
}

void event_channel::on_failure(http::clients::failure f) {
  const auto self = shared_from_this();
  http_.reset();
  if (ended_) return;
  const bool unreachable = f.stage == http::clients::stage::resolve || f.stage == http::clients::stage::connect ||
                           f.stage == http::clients::stage::tls;
  if (unreachable && deprecated_ && f.stage == http::clients::stage::tls)
    return broken("cannot be trusted: " + clause(f.why.message), "certificate", true);
  broken((unreachable ? "cannot be reached: " : "lost its event stream: ") + clause(f.why.message), problem_of(f),
         unreachable);
}

void event_channel::broken(const std::string& why, std::string_view problem, bool unreachable) {
  const auto self = shared_from_this();
  if (deprecated_) {
    drop();
    if (has_endpoint_) return core_->ended(why, problem);
    return core_->no_endpoint(why, problem, unreachable);
  }
  if (unreachable && ++failures_ >= most_failures) return core_->ended(why, problem);
  again();
}

// Plans the next GET of a session's stream.
void event_channel::again() {
  const bool brought = std::exchange(count_before_, reader_.count()) != reader_.count();
  http_.reset();
  const auto wait = pace_.next(core_->time().now(), reader_.events().retry(), brought);
  timer_->arm(core_->time().now() + wait, [this] {
    const auto self = shared_from_this();
    if (!ended_) start();
  });
}

void event_channel::on_message(rpc::message&& m) {
  if (ended_ || core_->over()) return;
  const auto self = shared_from_this();
  core_->deliver(std::move(m), 0);
}

void event_channel::on_fault(rpc::message_fault f) {
  if (ended_ || core_->over()) return;
  const auto self = shared_from_this();
  core_->deliver_fault(std::move(f));
}

}  // namespace mcpbx::mcp::remote

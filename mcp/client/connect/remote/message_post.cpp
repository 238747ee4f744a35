// Decides about each answer by its status, its type and its end.
#include "mcp/client/connect/remote/message_post.hpp"

#include "mcp/client/connect/remote/remote_words.hpp"
#include "mcp/redact/cut_text.hpp"

#include <algorithm>
#include <utility>

namespace mcpbx::mcp::remote {
namespace {

constexpr milliseconds first_repetition{100};

// Returns true if a part of the batch is the answer to this request.
bool answers(const rpc::message& batch, std::int64_t id) {
  bool found = false;
  json::for_each_element(batch.whole, [&](const json::raw_json& part) {
    const bool answer = json::find_member(part, "result") || json::find_member(part, "error");
    found = answer && rpc::rpc_id::from(json::find_member(part, "id")) == rpc::rpc_id::number(id);
    return !found;
  });
  return id != 0 && found;
}

// Returns true for an error that a server may give to a request before the end of the handshake. A method that it does
// not know, such as that for templates, it will not know later.
bool may_be_too_early(const rpc::message& answer) {
  return answer.error && json::find_member(answer.error, "code").as_integer() != rpc::code::method_not_found;
}

bool mentions_session(std::string_view body) {
  return body.contains("ession");
}

}  // namespace

message_post::message_post(std::shared_ptr<remote_core> core, posted_message m, std::string url)
    : core_(std::move(core)),
      message_(std::move(m)),
      url_(std::move(url)),
      reader_(core_->framing(), static_cast<rpc::message_sink&>(*this)) {}

void message_post::start() {
  seen_ = false;
  begin();
}

// Sends the message, or the GET that resumes its stream, with a token that is fresh enough.
void message_post::begin() {
  http_.reset();  // of the answer before, such as a redirect, whose rest means nothing
  error_.clear();
  status_ = 0;
  asked_wait_ = milliseconds(-1);
  if (!core_->tokens() || core_->tokens()->is_prepared()) return send();
  core_->tokens()->prepare([weak = weak_from_this()] {
    const auto self = weak.lock();
    if (self && !self->ended_ && !self->http_ && !self->core_->over()) self->send();
  });
}

void message_post::send() {
  if (core_->tokens()) token_ = core_->tokens()->header();
  auto request = resuming_ ? core_->make_get(reader_.events().last_id()) : core_->make_post(message_, url());
  if (resuming_) request.url = url();
  http_ = core_->begin(std::move(request), *this);
}

void message_post::drop() {
  ended_ = true;
  http_.reset();
  if (timer_) timer_->cancel();
}

void message_post::done() {
  const auto self = shared_from_this();
  drop();
  if (message_.id == 0)
    core_->note_ended(*this, status_ / 100 == 2);
  else
    core_->post_ended(*this, false);
}

void message_post::lost(errc code, std::string why) {
  const auto self = shared_from_this();
  if (answered_) return done();
  if (message_.id == 0) return undelivered(why, true);
  // Repeating mends no limit.
  if (code != errc::limit && came_too_early()) return;
  if (message_.is("server/discover") && (status_ == 0 || status_ / 100 == 5 || code == errc::unavailable))
    core_->probe_failed();
  drop();
  core_->lost(*this, code, std::move(why));
}

bool message_post::came_too_early() {
  if (answered_ || ended_ || !std::exchange(message_.early, false)) return false;
  const auto self = shared_from_this();
  drop();
  core_->send_in_turn(*this, message_);
  return true;
}

// Ends a notification or a response that does not arrive.
void message_post::undelivered(const std::string& why, bool surely) {
  const auto self = shared_from_this();
  core_->undelivered(message_, why, surely);
  if (!ended_) done();
}

void message_post::answer_refused(const std::string& why) {
  lost(errc::peer, unanswered(why));
}

std::string message_post::unanswered(const std::string& why) {
  return "got no answer: the server asked a question whose answer " + why + ", and " + std::string(not_known);
}

void message_post::on_head(int status, const std::vector<http::header>& headers) {
  const auto self = shared_from_this();
  status_ = status;
  seen_ = true;
  if (answered_) return;
  if (status / 100 == 2) return begin_answer(headers);
  reader_.begin(answer_reader::form::none);
  if (status == 401 || status == 403) challenge_ = joined_headers(headers, "www-authenticate");
  if (const auto wait = retry_after(http::find_header(headers, "retry-after"), core_->time().wall_ms()))
    asked_wait_ = *wait;
  if (status / 100 == 3 && !resuming_) redirected(http::find_header(headers, "location"));
}

void message_post::begin_answer(const std::vector<http::header>& headers) {
  using form = answer_reader::form;
  resumptions_failed_ = refusals_ = 0;
  if (message_.id == 0 || message_.answered_elsewhere) return reader_.begin(form::none);
  if (message_.is("initialize")) core_->take_session(http::find_header(headers, "mcp-session-id"));
  const std::string_view type = media_type(http::find_header(headers, "content-type"));
  if (http::is_word(type, "text/event-stream")) return reader_.begin(form::events);
  if (http::is_word(type, "application/json") && !resuming_) return reader_.begin(form::json);
  reader_.begin(form::none);
  if (type.empty()) return;
  const std::string what =
      "was answered with the content type \"" + redact::cut_for_people(type, 60) + "\", which is none of MCP's";
  // The deprecated transport answers a POST to its event stream in many ways, so the handshake may go on there.
  if (message_.is("initialize") && !core_->proven() && core_->try_events(message_, "its initialize " + what)) return;
  if (!core_->proven() && !message_.is("server/discover"))
    return core_->not_opened("does not speak MCP: its " + message_.method + " " + what, "protocol");
  lost(errc::protocol, what);
}

void message_post::on_body(std::string_view bytes) {
  const auto self = shared_from_this();
  if (ended_ || answered_) return;
  if (reader_.present() != answer_reader::form::none) return reader_.feed(bytes);
  if (error_.size() < longest_error) error_ += bytes.substr(0, longest_error - error_.size());
  // The rest of a longer text says nothing more.
  if (error_.size() >= longest_error) on_end();
}

// Does not wait for the rest of the answer to the end of the handshake: its head says that it is taken.
void message_post::on_pause() {
  if (ended_ || status_ / 100 != 2 || !message_.is("notifications/initialized")) return;
  const auto self = shared_from_this();
  core_->initialized();
}

void message_post::on_end() {
  const auto self = shared_from_this();
  if (ended_) return;
  http_.reset();
  if (answered_) return done();
  switch (reader_.present()) {
    case answer_reader::form::json:
      reader_.finish();
      if (ended_) return;
      if (answered_) return done();
      return lost(errc::protocol, "was answered with a text that is no answer to it");
    case answer_reader::form::events:
      return stream_ended("closed the stream before its answer");
    case answer_reader::form::none:
      break;
  }
  if (resuming_) return judge_resumption();
  judge();
}

void message_post::on_message(rpc::message&& m) {
  if (ended_ || core_->over()) return;
  const bool answer = message_.id != 0 && m.type == rpc::message::kind::response && is_number(m.id, message_.id);
  if (answer && may_be_too_early(m) && came_too_early()) return;
  if (answer) answered_ = true;
  if (answer) keep_address();
  // A whole answer that is a batch without the answer to this request is followed by nothing more, so that it fails.
  if (m.type == rpc::message::kind::batch && answers(m, message_.id)) answered_ = true;
  const auto about = message_.id;
  const bool stream = reader_.present() == answer_reader::form::events;
  const auto self = shared_from_this();
  if (answer && stream) core_->post_ended(*this, true);
  core_->deliver(std::move(m), about);
}

void message_post::on_fault(rpc::message_fault f) {
  if (ended_ || core_->over()) return;
  const auto self = shared_from_this();
  if (message_.id != 0 && f.envelope.is_response && f.envelope.id == rpc::rpc_id::number(message_.id)) {
    answered_ = true;
    core_->post_ended(*this, false);
    http_.reset();
    return core_->deliver_fault(std::move(f));
  }
  if (reader_.present() == answer_reader::form::json || f.type == rpc::message_fault::kind::oversized)
    return lost(f.type == rpc::message_fault::kind::oversized ? errc::limit : errc::protocol,
                "was answered with something that is no message (" + f.envelope.what + "): \"" + f.shown() + "\"");
  core_->deliver_fault(std::move(f));
}

// Looks at an answer that has no message in it, or whose status says that it failed.
void message_post::judge() {
  const auto self = shared_from_this();
  if (status_ / 100 == 2) {
    if (message_.id == 0 || message_.answered_elsewhere) return done();
    return lost(errc::protocol, error_.empty()
                                    ? "was accepted (HTTP status " + std::to_string(status_) + ") and not answered"
                                    : "was answered without a content type, which would tell how to read it");
  }
  if ((status_ == 401 || status_ == 403) && ask_for_token()) return;
  const std::string what = status_text(status_, error_);
  const bool opening = message_.is("initialize") && !core_->proven();
  if (status_ == 401) return refused_for_good();
  // A session that the server does not know any more (2025-11-25, "Session Management"). Some servers say 400.
  // A call that is answered by its id has been looked at, so that it must not be sent again.
  if (core_->has_session() && !message_.modern && !message_.is("initialize") &&
      (status_ == 404 || (status_ == 400 && mentions_session(error_) && !(message_.once() && own_answer())))) {
    if (came_too_early()) return;
    return core_->expire("has ended the session (" + what + ")", message_.id);
  }
  if (message_.id == 0) return judge_note(what);
  if (deliver_error()) return;
  if (status_ == 429 || status_ == 503) {
    const auto wait = wait_asked();
    const std::string wish = asked_wait_ < milliseconds(0)
                                 ? std::string()
                                 : "; the server asks for a wait of " + std::to_string(wait.count() / 1000) + " s";
    if (!core_->proven())
      return core_->not_opened("takes no requests now (" + what + ")" + wish, "refused",
                               std::clamp(wait, milliseconds(0), longest_hold));
    // A 503 that asks for no repetition may be a gateway's, whose server has worked on the message before it failed.
    const bool may_have_run = status_ == 503 && asked_wait_ < milliseconds(0) && message_.once();
    if (may_have_run) return lost(errc::unavailable, "was refused (" + what + "), and " + std::string(not_known));
    if (repetitions_ < most_repetitions && wait <= longest_wait) return repeat_later(wait);
    return lost(errc::limit, "was refused (" + what + ")" + wish);
  }
  if (opening && status_ / 100 == 4 && status_ != 403 &&
      core_->try_events(message_, "its initialize was answered with " + what))
    return;
  if (!core_->proven() && (opening || status_ == 403 || (status_ / 100 == 5 && !message_.is("server/discover"))))
    return core_->not_opened(status_ == 403 ? "refuses requests (" + what + "); check the \"headers\" of its entry"
                             : status_ / 100 == 5 ? "fails to answer (" + what + ")"
                                                  : "does not speak MCP: it answers initialize with " + what,
                             status_ == 403 || status_ / 100 == 5 ? "refused" : "protocol");
  const std::string wants = status_ == 403 && core_->tokens() ? core_->tokens()->sentence() : std::string();
  const bool own_headers = status_ == 403 && !core_->tokens();
  lost(errc::peer, "was answered with " + what +
                       (own_headers     ? "; check that the \"headers\" of its entry give the right to it"
                        : wants.empty() ? wants
                                        : "; the server " + wants));
}

// Looks at the refusal of a notification or a response. A server that is busy has not taken it, and an answer that it
// never gets would leave it waiting.
void message_post::judge_note(const std::string& what) {
  const bool busy = status_ == 429 || status_ == 503;
  if (busy && !core_->closing() && repetitions_ < most_repetitions && wait_asked() <= longest_wait)
    return repeat_later(wait_asked());
  undelivered("was refused (" + what + ")", busy || status_ / 100 == 4);
}

// Returns the JSON-RPC answer to this request, if the body of an error status is one.
std::optional<rpc::message> message_post::own_answer() const {
  if (message_.id == 0 || error_.find('{') == std::string::npos) return std::nullopt;
  auto parsed = json::raw_json::parse(error_);
  if (!parsed) return std::nullopt;
  auto m = rpc::parse_message(std::move(*parsed));
  if (!m || m->type != rpc::message::kind::response || m->id != rpc::rpc_id::number(message_.id)) return std::nullopt;
  return std::move(*m);
}

// Passes a body on that is the JSON-RPC answer to this request, whatever its status (2026-07-28, "Server Validation").
bool message_post::deliver_error() {
  auto m = own_answer();
  if (!m) return false;
  const auto self = shared_from_this();
  if (may_be_too_early(*m) && came_too_early()) return true;
  answered_ = true;
  keep_address();
  drop();
  core_->post_ended(*this, false);
  core_->deliver(std::move(*m), message_.id);
  return true;
}

void message_post::on_failure(http::clients::failure f) {
  const auto self = shared_from_this();
  http_.reset();
  if (ended_) return;
  if (answered_) return done();
  const std::string why = clause(f.why.message);
  if (resuming_) return resume_later(why);
  switch (f.stage) {
    case http::clients::stage::resolve:
    case http::clients::stage::connect:
    case http::clients::stage::tls:
      return unreachable(f);
    case http::clients::stage::send:
    case http::clients::stage::first_byte:
      if (message_.id == 0) return undelivered("got lost: " + why, false);
      // Some old servers drop a connection at a request that they do not know; they may still take the handshake.
      if (!core_->proven() && !message_.is("server/discover"))
        return core_->not_opened("cannot be used: " + why, problem_of(f));
      return lost(errc::unavailable,
                  "got no answer" + (message_.once() ? ", and " + std::string(not_known) : "") + ": " + why);
    case http::clients::stage::body:
      if (message_.id == 0) return status_ / 100 == 2 ? done() : judge_note(status_text(status_, error_));
      break;
  }
  if (reader_.present() == answer_reader::form::events)
    return stream_ended("lost its stream before its answer (" + why + ")");
  if (!core_->proven() && !message_.is("server/discover"))
    return core_->not_opened("cannot be used: " + why, problem_of(f));
  lost(f.why.code, "got no whole answer" + (message_.once() ? ", and " + std::string(not_known) : "") + ": " + why);
}

// The connection could not even be opened, so that nothing was sent.
void message_post::unreachable(const http::clients::failure& f) {
  const bool bad_trust = f.stage == http::clients::stage::tls;
  const bool ours = f.why.code == errc::invalid_argument || f.why.code == errc::config;
  const bool our_certificate = bad_trust && f.why.code == errc::peer;
  std::string what = clause(f.why.message);
  constexpr std::string_view said = " cannot be asked: ";
  if (const auto at = what.find(said); ours && at != std::string::npos) what.erase(0, at + said.size());
  std::string how = (ours || our_certificate ? "cannot be asked: "
                     : bad_trust             ? "cannot be trusted: "
                                             : "cannot be reached: ") +
                    what;
  if (our_certificate) how += "; name one that it takes as \"clientCertFile\" of its entry";
  if (!core_->proven())
    return core_->not_opened(how, ours && f.stage == http::clients::stage::resolve ? "refused" : problem_of(f), {},
                             !ours && !our_certificate);
  if (repetitions_ < most_repetitions && f.why.code != errc::timed_out && !ours && !core_->closing())
    return repeat_later(first_repetition * (1 << (2 * repetitions_)));
  if (message_.id == 0) return undelivered("was not sent: the server " + how, true);
  core_->expire(how, message_.id);
}

}  // namespace mcpbx::mcp::remote

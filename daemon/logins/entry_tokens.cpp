// Sends and renews tokens, and decides what a refusal leads to.
#include "daemon/logins/entry_tokens.hpp"

#include "daemon/logins/waiting_calls.hpp"
#include "mcp/redact/secret.hpp"
#include "mcp/support/log.hpp"
#include "mcp/support/text.hpp"

#include <chrono>
#include <utility>

namespace mcpbx::daemon::logins {
namespace {

constexpr std::chrono::minutes between_attempts{1};
constexpr std::chrono::seconds between_renewals{20}, between_loads{5};
constexpr std::chrono::minutes between_saves{1};

}  // namespace

entry_tokens::entry_tokens(login_parts parts, grant_keeper& keeper, login_entry entry)
    : parts_(std::move(parts)), keeper_(keeper), entry_(std::move(entry)) {}

void entry_tokens::drop() {
  dropped_ = true;
  when_loaded_.clear();
  when_renewed_.clear();
  when_ready_.clear();
  when_over_.clear();
  exchange_.reset();
  login_.reset();
  ended_.clear();
  tidy_.reset();
}

void entry_tokens::leave(std::string_view why) {
  const auto self = shared_from_this();
  dropped_ = true;
  outdate();
  if (auto* const present = present_login()) present->cancel(why);
  if (renewing_) end_renewal(false);
  const result<void> over = std::unexpected(ended_by(why));
  call_all(when_loaded_);
  call_all(when_ready_);
  call_all(when_over_, over);
  drop();
}

// Lets a renewal that is under way come to nothing, since its answer is about tokens that are not held any more.
void entry_tokens::outdate() {
  ++age_;
  exchange_.reset();
}

std::string entry_tokens::login_command() const {
  return "run `mcpbx auth login " + shell_word(entry_.server) +
         (entry_.principal.empty() ? "" : " --for " + shell_word(entry_.principal)) + "`";
}

std::string entry_tokens::header() const {
  return grant_.access_token.empty() ? std::string() : "Bearer " + grant_.access_token.reveal();
}

void entry_tokens::prepare(std::function<void()> then) {
  if (dropped_) return then();
  const time_point now = parts_.time.now();
  if (lost_ && now - *lost_ >= between_saves)
    keep(nullptr, [weak = weak_from_this()](const result<void>& saved) {
      if (const auto self = weak.lock(); self && saved) self->problem_.clear();
    });
  if (loaded_ ? !wants_renewal() : !unreadable_.empty() && now - *last_load_ < between_loads) return then();
  when_loaded([this, then = std::move(then)]() mutable {
    if (!wants_renewal()) return then();
    renew([then = std::move(then)](bool) { then(); });
  });
}

// Renewal.

// A token that ends within the minute in which it was given is renewed when it is refused, and not for each request.
bool entry_tokens::just_renewed() const {
  return last_renewal_ != time_point::min() && parts_.time.now() - last_renewal_ < between_renewals;
}

bool entry_tokens::wants_renewal() const {
  return !just_renewed() && !grant_.refresh_token.empty() && grant_.wants_renewal(parts_.time.wall_ms());
}

void entry_tokens::renew(std::function<void(bool)> then) {
  if (dropped_ || when_renewed_.size() >= most_waiting) return then(false);
  when_renewed_.push_back(std::move(then));
  if (std::exchange(renewing_, true)) return;
  keeper_.lock(place(),
               [weak = weak_from_this(), age = age_](result<grant_keeper::held_lock> held, grant_keeper::found stored) {
                 const auto self = weak.lock();
                 if (!self || self->dropped_ || age != self->age_) return;
                 if (stored && !*stored && self->kept_) return self->forgotten_elsewhere();
                 // Another daemon may have renewed the tokens meanwhile, which makes the refresh token here a spent
                 // one. Tokens of this daemon that could not be written are later than those on disk.
                 if (stored && *stored && (*stored)->serial > self->serial_ && self->is_allowed((*stored)->grant)) {
                   self->take(std::move((*stored)->grant));
                   self->serial_ = (*stored)->serial;
                   self->kept_ = true;
                   if (!self->grant_.wants_renewal(self->parts_.time.wall_ms())) return self->end_renewal(true);
                 }
                 self->send_renewal(held ? *held : nullptr);
               });
}

// Forgets the tokens, since a logout at another daemon has removed them from the file.
void entry_tokens::forgotten_elsewhere() {
  const auto self = shared_from_this();
  outdate();
  grant_ = {};
  kept_ = false;
  problem_.clear();
  set_waiting("needs a login: " + login_command());
  end_renewal(false);
}

void entry_tokens::send_renewal(grant_keeper::held_lock held) {
  if (grant_.method != "private_key_jwt") return ask_renewal(std::move(held));
  // The key may have been replaced since the last time.
  entry_.settings([weak = weak_from_this(), age = age_, held = std::move(held)](result<login_settings> settings) {
    const auto self = weak.lock();
    if (!self || self->dropped_ || age != self->age_) return;
    if (!settings) return self->not_renewed(settings.error().message);
    if (self->take_settings(std::move(*settings))) self->ask_renewal(held);
  });
}

void entry_tokens::not_renewed(const std::string& why) {
  auto what = "server \"" + entry_.server + "\": its token cannot be renewed: " + why;
  if (problem_ != what) log::warn(what);
  problem_ = std::move(what);
  end_renewal(false);
}

void entry_tokens::ask_renewal(grant_keeper::held_lock held) {
  auto request = auth::flow::renewal_request(grant_, parts_.time.wall_ms(), settings_.key, parts_.secrets);
  if (!request) return not_renewed(request.error().message);
  auto quoted =
      std::make_shared<std::vector<redact::passing_secret>>(request->secrets());  // a server may quote what it refuses
  const auto trust = trust_towards(request->url, settings_.url, settings_.trust);
  exchange_ = std::make_unique<document_exchange>(
      parts_.client, std::move(*request), trust, auth::endpoint_rule::of(settings_.url, entry_.private_addresses),
      [this, held = std::move(held), quoted = std::move(quoted)](result<auth::flow::document_answer> answer) mutable {
        const auto self = shared_from_this();
        const auto ended = std::move(exchange_);
        const auto lock = std::move(held);
        if (!answer) return renewal_over(lock, std::unexpected(error{errc::unavailable, answer.error().message}));
        renewal_over(lock, auth::flow::renewed(grant_, *answer, parts_.time.wall_ms()));
      });
}

void entry_tokens::renewal_over(grant_keeper::held_lock held, result<auth::grant> outcome) {
  if (!outcome) {
    problem_ = "the authorization server of \"" + entry_.server + "\" " + outcome.error().message;
    log::warn(problem_);
    // A refused refresh token cannot be used again, and neither can the token that it was to renew.
    if (outcome.error().code == errc::peer) {
      grant_.access_token = {};
      grant_.refresh_token = {};
    }
    return end_renewal(false);
  }
  take_new(std::move(*outcome));
  last_renewal_ = parts_.time.now();
  problem_.clear();
  keep(std::move(held), nullptr);
  end_renewal(true);
}

void entry_tokens::end_renewal(bool renewed) {
  renewing_ = false;
  call_all(when_renewed_, renewed);
}

// Refusals and logins.

void entry_tokens::set_waiting(std::string why) {
  sentence_ = std::move(why);
}

bool entry_tokens::may_log_in_alone() {
  // A person who did not answer is not there: the browser is not opened again until somebody logs in.
  if (entry_.grant == auth::flow::grant_kind::person && (!entry_.opens || unanswered_)) return false;
  const time_point now = parts_.time.now();
  if (now - std::exchange(last_attempt_, now) >= between_attempts) attempts_ = 0;
  return attempts_++ < most_attempts;
}

void entry_tokens::refused(int status, std::string_view challenge, std::string_view sent,
                           std::function<void(bool)> again) {
  if (dropped_) return again(false);
  const std::string was(sent);
  auto read = auth::read_bearer_challenge(challenge).value_or(auth::bearer_challenge());
  when_loaded([this, status, was, read = std::move(read), again = std::move(again)]() mutable {
    if (header() != was && !header().empty()) return again(true);  // renewed since the request was sent
    challenge_ = read;
    const bool more_scopes = status == 403 && read.error == "insufficient_scope";
    if (status == 403 && !more_scopes) {
      set_waiting("does not allow this with the present login");
      return again(false);
    }
    if (!more_scopes && just_renewed()) {
      // A further renewal would bring nothing else, and each request would ask for one.
      set_waiting("refuses the token that its authorization server has just given");
      return again(false);
    }
    const auto ask_person = [this, more_scopes](std::function<void(bool)> then) {
      // A login would bring tokens that cannot be kept beside those that are there.
      set_waiting(!unreadable_.empty() ? "cannot use its login: " + unreadable_
                  : more_scopes        ? "needs a login with more rights: " + login_command()
                                       : "needs a login: " + login_command());
      const bool is_first = !preparing_ && !present_login();
      if (is_first && !may_log_in_alone()) return then(false);
      // A login that people have begun ends with them, whatever else waits for it.
      log_in(
          is_first ? nullptr : std::make_shared<int>(),
          [this] {
            // Many requests may wait for one login, and a server that is opened again and again asks for it each time.
            if (const auto* present = present_login();
                present && !present->address().empty() && !std::exchange(shown_, true))
              keeper_.open_browser(settings_.open, present->opened_address());
          },
          [then = std::move(then)](const result<void>& over) { then(over.has_value()); });
    };
    if (!more_scopes && !grant_.refresh_token.empty())
      return renew([this, age = age_, ask_person, again = std::move(again)](bool renewed) mutable {
        if (renewed) return again(true);
        if (age != age_) return again(false);  // somebody has logged out
        ask_person(std::move(again));
      });
    if (!more_scopes) grant_.access_token = {};  // it is refused, however it ends
    ask_person(std::move(again));
  });
}

void entry_tokens::stream_refused(std::string_view sent, std::function<void(bool)> again) {
  if (dropped_) return again(false);
  when_loaded([this, was = std::string(sent), again = std::move(again)]() mutable {
    if (header() != was && !header().empty()) return again(true);  // renewed since the stream was asked for
    if (just_renewed() || grant_.refresh_token.empty()) return again(false);
    renew(std::move(again));
  });
}

}  // namespace mcpbx::daemon::logins

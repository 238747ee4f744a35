// Decides about renewals and logins.
#include "daemon/logins/entry_tokens.hpp"

#include "daemon/logins/waiting_calls.hpp"
#include "mcp/redact/secret.hpp"
#include "mcp/support/log.hpp"
#include "mcp/support/text.hpp"

#include <algorithm>
#include <utility>

namespace mcpbx::daemon::logins {
namespace {

constexpr std::chrono::minutes between_attempts{1};
constexpr std::chrono::seconds between_renewals{20}, between_loads{5};
constexpr std::chrono::minutes between_saves{1};
constexpr milliseconds page_time{5'000};
constexpr std::size_t most_waiting = 4096;
constexpr std::size_t most_ended = 8;
constexpr std::string_view nobody_waits = "nobody waits for it any more";

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

bool entry_tokens::is_wanted() const {
  return unattended_ || std::ranges::any_of(waiting_people_, [](const auto& one) { return !one.expired(); });
}

void entry_tokens::when_logged_in(const login_presence& waits, std::function<void(result<void>)> over) {
  if (is_crowded(over)) return;
  note_present(waits);
  when_over_.push_back(std::move(over));
}

// Refuses one more that waits for the login under way, and returns true, if too many do. A program may ask for a login
// again and again while nobody answers.
bool entry_tokens::is_crowded(const std::function<void(result<void>)>& over) const {
  if (when_over_.size() < most_waiting) return false;
  if (over) over(fail(errc::limit, "too many wait for the login to server \"" + entry_.server + "\" already"));
  return true;
}

void entry_tokens::note_present(const login_presence& waits) {
  std::erase_if(waiting_people_, [&](const auto& one) { return one.expired() || one.lock() == waits; });
  if (waits) waiting_people_.emplace_back(waits);
}

void entry_tokens::log_in(const login_presence& waits, std::function<void()> ready,
                          std::function<void(result<void>)> over) {
  when_loaded([this, age = logouts_, alone = !waits, who = std::weak_ptr(waits), ready = std::move(ready),
               over = std::move(over)]() mutable {
    if (dropped_ || age != logouts_) {
      if (over)
        over(dropped_ ? fail(errc::cancelled, "the entry of server \"" + entry_.server + "\" has changed")
                      : logged_out());
      return;
    }
    if (is_crowded(over)) return;
    unattended_ = unattended_ || alone;
    note_present(who.lock());
    when_over_.push_back(std::move(over));
    if (present_login() && !present_login()->address().empty()) {
      if (ready) ready();
      return;
    }
    when_ready_.push_back(std::move(ready));
    if (!present_login() && !std::exchange(preparing_, true)) prepare_login();
  });
}

// Resolves the settings again, since a file or a program may give another secret by now.
void entry_tokens::prepare_login() {
  entry_.settings([weak = weak_from_this(), age = logouts_, moves = moves_](result<login_settings> settings) {
    const auto self = weak.lock();
    if (!self || self->dropped_ || age != self->logouts_ || moves != self->moves_) return;
    if (!settings) {
      self->preparing_ = false;
      return self->login_over(std::unexpected(settings.error()));
    }
    if (self->take_settings(std::move(*settings))) self->bind_client();
  });
}

// A client of the entry is for one authorization server, whichever caller it has logged in first.
void entry_tokens::bind_client() {
  bound_.reset();
  if (!entry_.per_caller || settings_.client_id.empty() || !settings_.issuer.empty() || !grant_.issuer.empty()) {
    preparing_ = false;
    return start_login();
  }
  keeper_.find_client(
      place(), settings_.client_id, [weak = weak_from_this(), age = logouts_, moves = moves_](grant_keeper::found f) {
        const auto self = weak.lock();
        if (!self || self->dropped_ || age != self->logouts_ || moves != self->moves_) return;
        self->preparing_ = false;
        if (!f)
          return self->login_over(
              fail(errc::unavailable, "server \"" + self->entry_.server +
                                          "\": no login is begun with the client of its entry, since " +
                                          f.error().message + "; or name its authorization server as auth.issuer"));
        if (*f) self->bound_ = auth::grant{.issuer = (*f)->grant.issuer, .client = (*f)->grant.client};
        self->start_login();
      });
}

void entry_tokens::start_login() {
  if (!is_wanted()) return login_over(std::unexpected(ended_by(nobody_waits)));
  // The tokens on disk tell at which authorization server the client has been used: its secret is for no other.
  const bool shows_secret = !settings_.client_id.empty() || !settings_.assertion.empty();
  if (!unreadable_.empty() && settings_.issuer.empty() && shows_secret)
    return login_over(fail(errc::unavailable, "server \"" + entry_.server +
                                                  "\": no login is begun with the client of its entry, since " +
                                                  unreadable_ + "; or name its authorization server as auth.issuer"));
  auth::flow::authorization::options o{.server = entry_.server, .server_url = settings_.url};
  o.issuer = settings_.issuer;
  o.challenge = challenge_;
  o.scopes = entry_.scopes;
  o.client_id = settings_.client_id;
  o.client_secret = settings_.client_secret;
  o.client_document = settings_.client_document;
  o.private_addresses = entry_.private_addresses;
  o.kind = entry_.grant;
  o.key = settings_.key;
  o.assertion = settings_.assertion;
  o.provider = settings_.provider;
  o.before = grant_.issuer.empty() ? bound_ : std::optional(grant_);
  if (login_) {
    // A program may begin logins faster than their pages are shown.
    if (ended_.size() >= most_ended) ended_.erase(ended_.begin());
    ended_.push_back(std::move(login_));
    if (!tidy_) tidy_ = parts_.time.make_timer();
    tidy_->arm(parts_.time.now() + page_time, [this] { ended_.clear(); });
  }
  shown_ = false;
  login_ =
      std::make_unique<login>(parts_, settings_.trust, std::move(o),
                              login::handlers{[this] {
                                                const auto self = shared_from_this();
                                                call_all(when_ready_);
                                              },
                                              [this](result<auth::grant> outcome) { login_over(std::move(outcome)); }});
  login_->begin();
}

void entry_tokens::login_over(result<auth::grant> outcome) {
  const auto self = shared_from_this();
  waiting_people_.clear();
  unattended_ = false;
  unanswered_ = !outcome && outcome.error().code == errc::cancelled;
  if (!outcome) {
    problem_ = outcome.error().message;
    log::warn(problem_);
    last_outcome_ = std::unexpected(outcome.error());
    call_all(when_ready_);
    call_all(when_over_, result<void>(std::unexpected(outcome.error())));
    return;
  }
  outdate();
  kept_ = false;
  take_new(std::move(*outcome));
  problem_.clear();
  sentence_.clear();
  challenge_ = {};
  if (renewing_) end_renewal(true);
  last_outcome_ = result<void>();
  writing_login_ = true;
  keep(nullptr, [this](const result<void>&) {
    const auto me = shared_from_this();
    writing_login_ = false;
    call_all(when_ready_);
    call_all(when_over_, result<void>());
    if (!dropped_) keeper_.tokens_changed(entry_, true);
  });
}

error entry_tokens::ended_by(std::string_view why) const {
  return {errc::cancelled, "the login to server \"" + entry_.server + "\" was ended: " + std::string(why)};
}

result<void> entry_tokens::logged_out() const {
  return std::unexpected(ended_by("somebody has logged out"));
}

void entry_tokens::end_if_unwanted() {
  if (is_wanted()) return;
  // One that is being prepared looks for itself when it starts.
  if (auto* const present = present_login()) present->cancel(nobody_waits);
}

bool entry_tokens::cancel_login(std::string_view why) {
  if (auto* const present = present_login()) {
    present->cancel(why);
    return true;
  }
  if (!std::exchange(preparing_, false)) return false;
  ++logouts_;  // its settings are on their way
  login_over(std::unexpected(ended_by(why)));
  return true;
}

void entry_tokens::log_out(std::function<void(result<void>)> then) {
  const auto self = shared_from_this();
  outdate();
  ++logouts_;
  grant_ = {};
  kept_ = false;
  lost_.reset();
  loaded_ = true;
  unreadable_.clear();
  if (auto* present = present_login()) present->cancel("somebody has logged out");
  if (std::exchange(preparing_, false)) login_over(std::unexpected(logged_out().error()));
  unanswered_ = false;
  if (renewing_) end_renewal(false);
  sentence_.clear();
  problem_.clear();
  auto forget = [weak = weak_from_this(), then = std::move(then)](result<login_settings> settings) mutable {
    const auto me = weak.lock();
    if (!settings || !me || me->dropped_)
      return then(!settings ? std::unexpected(settings.error())
                            : fail(errc::cancelled, "the entry of the server has changed"));
    me->take_settings(std::move(*settings));
    me->keeper_.save(me->place(), std::nullopt, false, nullptr,
                     [weak, then = std::move(then)](const result<void>& saved) {
                       const auto tokens = weak.lock();
                       if (tokens && !tokens->dropped_) tokens->keeper_.tokens_changed(tokens->entry_, false);
                       then(saved);
                     });
  };
  // The address of the server tells which tokens on disk are meant.
  if (settings_.url.empty()) return entry_.settings(std::move(forget));
  forget(settings_);
}

}  // namespace mcpbx::daemon::logins

// Begins logins, and ends them: with tokens, by people, or because nobody waits any more.
#include "daemon/logins/entry_tokens.hpp"
#include "daemon/logins/waiting_calls.hpp"
#include "mcp/support/log.hpp"

#include <algorithm>
#include <utility>

namespace mcpbx::daemon::logins {
namespace {

constexpr milliseconds page_time{5'000};
constexpr std::size_t most_ended = 8;
constexpr std::string_view nobody_waits = "nobody waits for it any more";

}  // namespace

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

// Reads the tokens of an entry from disk, writes them there, and keeps their secrets out of texts.
#include "daemon/logins/entry_tokens.hpp"
#include "daemon/logins/waiting_calls.hpp"
#include "mcp/redact/secret.hpp"
#include "mcp/support/log.hpp"

#include <algorithm>
#include <utility>

namespace mcpbx::daemon::logins {
namespace {

constexpr std::size_t most_hidden = 64;

}  // namespace

void entry_tokens::when_loaded(std::function<void()> then) {
  if (loaded_ || dropped_) return then();
  when_loaded_.push_back(std::move(then));
  if (!std::exchange(loading_, true)) load();
}

void entry_tokens::load() {
  last_load_ = parts_.time.now();
  entry_.settings([weak = weak_from_this(), moves = moves_](result<login_settings> settings) {
    const auto self = weak.lock();
    if (!self || self->dropped_) return;
    if (moves != self->moves_) return self->load();
    if (!settings) {
      self->unreadable(settings.error().message);
      return call_all(self->when_loaded_);
    }
    self->take_settings(std::move(*settings));
    self->keeper_.load(self->place(), [weak, age = self->age_, present = self->moves_](grant_keeper::found f) {
      const auto tokens = weak.lock();
      if (!tokens || tokens->dropped_) return;
      if (present != tokens->moves_) return tokens->load();
      const bool late = !tokens->unreadable_.empty();
      if (age == tokens->age_) tokens->loaded_as(std::move(f));
      call_all(tokens->when_loaded_);
      // Opens connections again that have begun without them.
      if (late && !tokens->dropped_ && !tokens->grant_.empty()) tokens->keeper_.tokens_changed(tokens->entry_, true);
    });
  });
}

void entry_tokens::loaded_as(grant_keeper::found f) {
  if (!f) return unreadable(f.error().message);
  loaded_ = true;
  if (!unreadable_.empty() && problem_ == unreadable_) problem_.clear();
  unreadable_.clear();
  if (!*f || !is_allowed((*f)->grant) || !grant_.empty()) return;
  take(std::move((*f)->grant));
  serial_ = (*f)->serial;
  kept_ = true;
}

// Returns false for tokens of an authorization server that auth.issuer does not allow.
bool entry_tokens::is_allowed(const auth::grant& g) const {
  return settings_.issuer.empty() || g.issuer == settings_.issuer;
}

// Notes that it is not known if there are tokens. It is tried again at the next use.
void entry_tokens::unreadable(std::string why) {
  loading_ = false;
  if (unreadable_ != why) log::warn("server \"" + entry_.server + "\": " + why);
  unreadable_ = problem_ = std::move(why);
}

void entry_tokens::take(auth::grant g) {
  const std::int64_t now = parts_.time.wall_ms();
  std::erase_if(hidden_, [now](const hidden_value& h) { return h.until_ms >= 0 && h.until_ms < now; });
  const auto hide = [this](hidden_value& present, const redact::secret& next, std::int64_t until_ms) {
    if (present.of.reveal() == next.reveal()) return;
    if (!present.of.empty()) hidden_.push_back(std::move(present));
    if (hidden_.size() > most_hidden) hidden_.erase(hidden_.begin());
    present = {next, auth::flow::worth_hiding(next.reveal()) ? redact::passing_secret(next) : redact::passing_secret(),
               until_ms};
  };
  hide(present_[0], g.access_token, g.expires_at_ms);
  hide(present_[1], g.refresh_token, -1);
  hide(present_[2], g.client.password, -1);
  grant_ = std::move(g);
}

// Takes the grant of a login or a renewal. Serial numbers are times, so that those of other daemons fit in.
void entry_tokens::take_new(auth::grant g) {
  take(std::move(g));
  serial_ = std::max(serial_ + 1, parts_.time.wall_ms());
  loaded_ = true;
  unreadable_.clear();
}

// Writes the grant; one that cannot be written is tried again with a later request.
void entry_tokens::keep(grant_keeper::held_lock held, std::function<void(const result<void>&)> then) {
  lost_.reset();
  keeper_.save(place(), kept_grant{grant_, serial_}, kept_, std::move(held),
               [weak = weak_from_this(), serial = serial_, then = std::move(then)](const result<void>& saved) {
                 const auto self = weak.lock();
                 if (!self || self->dropped_) return;
                 if (serial == self->serial_ && !self->grant_.empty()) {
                   if (!saved && saved.error().code == errc::not_found) return self->forgotten_elsewhere();
                   if (saved) self->kept_ = true;
                   if (!saved) self->lost_ = self->parts_.time.now();
                   if (!saved) self->problem_ = "the tokens hold until mcpbx ends, since " + saved.error().message;
                 }
                 if (then) then(saved);
               });
}

}  // namespace mcpbx::daemon::logins

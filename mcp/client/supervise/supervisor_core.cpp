// Implements the rules by which one tool server starts, is restarted and ends.
#include "mcp/client/supervise/supervisor_core.hpp"

#include <algorithm>
#include <utility>

namespace mcpbx::mcp::supervise {

supervisor_core::supervisor_core(options o, random_source& random) : options_(o), random_(random) {}

void supervisor_core::start(time_point now) {
  if (options_.disabled || options_.unusable) return;
  if (options_.lazy)
    phase_ = phase::dormant;
  else
    launch_at(now);
}

void supervisor_core::wake(time_point now) {
  if (phase_ == phase::dormant)
    launch_at(now);
  else if (phase_ == phase::ending && then_ == then::sleep)
    then_ = then::launch;
}

void supervisor_core::ready(time_point now) {
  if (phase_ != phase::starting) return;
  phase_ = phase::up;
  up_since_ = idle_since_ = now;
  if (trouble_ == clients::server_state::failed) trouble_ = clients::server_state::starting;
}

void supervisor_core::not_opened(time_point now, std::size_t crowd, bool try_again, milliseconds wait) {
  if (phase_ == phase::ending) return gone(now, crowd);
  if (phase_ != phase::starting) return;
  trouble_ = clients::server_state::failed;
  if (!try_again) return launch_at(never);
  plan_restart(now, crowd, wait);
}

void supervisor_core::refused(time_point now) {
  if (phase_ != phase::starting && phase_ != phase::up) return;
  trouble_ = clients::server_state::failed;
  end(now, then::back_off, true);
}

void supervisor_core::lost(time_point now) {
  if (phase_ != phase::starting && phase_ != phase::up) return;
  note_end(now);
  end(now, then::back_off, true);
}

void supervisor_core::gone(time_point now, std::size_t crowd) {
  if (phase_ == phase::starting || phase_ == phase::up) {
    note_end(now);
    return plan_restart(now, crowd);
  }
  if (phase_ != phase::ending) return;
  switch (then_) {
    case then::back_off:
      return plan_restart(now, crowd);
    case then::launch:
      return launch_at(now);
    case then::sleep:
      phase_ = phase::dormant;
      if (trouble_ != clients::server_state::crash_loop) trouble_ = clients::server_state::starting;
      return;
    case then::stay_off:
      phase_ = phase::off;
      return;
  }
}

bool supervisor_core::renew(time_point now) {
  if (phase_ != phase::up || !renewals_.take(now)) return false;
  launch_at(now);
  return true;
}

void supervisor_core::restart(time_point now) {
  if (options_.disabled || options_.unusable || stopped_) return;
  failures_ = 0;
  ends_.clear();
  trouble_ = clients::server_state::restarting;
  is_restart_ = launches_ != 0;
  if (phase_ == phase::starting || phase_ == phase::up)
    end(now, then::launch, false);
  else if (phase_ == phase::ending)
    then_ = then::launch;
  else
    launch_at(now);
}

void supervisor_core::retry_now(time_point now, std::size_t crowd) {
  if (phase_ == phase::waiting && at_ != never) at_ = std::min(at_, now + stagger * static_cast<int>(crowd));
}

void supervisor_core::busy(bool has_calls, time_point now) {
  busy_ = has_calls;
  idle_since_ = now;
}

void supervisor_core::stop(time_point now) {
  if (phase_ == phase::starting || phase_ == phase::up)
    end(now, then::stay_off, false);
  else if (phase_ == phase::ending)
    then_ = then::stay_off;
  else
    phase_ = phase::off;
  stopped_ = true;
}

supervisor_core::command supervisor_core::next_command(time_point now) {
  if (phase_ == phase::waiting && at_ <= now) {
    phase_ = phase::starting;
    at_ = now + options_.start_timeout;
    ++launches_;
    if (std::exchange(is_restart_, false)) ++restarts_;
    return command::open;
  }
  if (phase_ == phase::starting && at_ <= now) {
    refused(now);
    return command::start_timed_out;
  }
  if (phase_ == phase::up && !busy_ && options_.idle_stop.count() > 0 && idle_since_ + options_.idle_stop <= now)
    end(now, then::sleep, false);
  if (phase_ != phase::ending) return command::none;
  const auto due = [now](time_point& at) { return at <= now && std::exchange(at, never) != never; };
  if (due(ask_at_)) return command::ask_to_end;
  if (due(insist_at_)) return command::insist;
  if (due(force_at_)) return command::force;
  if (due(abandon_at_)) return command::abandon;
  return command::none;
}

time_point supervisor_core::next_time() const {
  switch (phase_) {
    case phase::waiting:
    case phase::starting:
      return at_;
    case phase::up:
      return busy_ || options_.idle_stop.count() <= 0 ? never : idle_since_ + options_.idle_stop;
    case phase::ending:
      return std::min({ask_at_, insist_at_, force_at_, abandon_at_});
    default:
      return never;
  }
}

clients::server_state supervisor_core::state() const noexcept {
  switch (phase_) {
    case phase::off:
      if (stopped_) return clients::server_state::stopped;
      if (options_.disabled) return clients::server_state::disabled;
      return options_.unusable ? clients::server_state::failed : clients::server_state::stopped;
    case phase::dormant:
      return clients::server_state::lazy;
    case phase::up:
      return clients::server_state::ready;
    case phase::ending:
      if (then_ == then::sleep) return clients::server_state::lazy;
      if (then_ == then::stay_off) return clients::server_state::stopped;
      return trouble_ == clients::server_state::crash_loop ? trouble_ : clients::server_state::restarting;
    case phase::waiting:
      return trouble_;
    case phase::starting:
      return trouble_ == clients::server_state::failed ? clients::server_state::starting : trouble_;
  }
  return clients::server_state::stopped;
}

bool supervisor_core::will_be_ready(time_point now) const noexcept {
  switch (phase_) {
    case phase::dormant:
    case phase::starting:
    case phase::up:
      return true;
    case phase::waiting:
      return at_ - now <= near_start;
    case phase::ending:
      return then_ == then::launch || then_ == then::sleep;
    case phase::off:
      return false;
  }
  return false;
}

void supervisor_core::launch_at(time_point when) {
  phase_ = phase::waiting;
  at_ = when;
}

void supervisor_core::note_end(time_point now) {
  // After 60 s as ready all earlier ends are forgotten, also a failure to start.
  if (phase_ == phase::up && now - up_since_ >= healthy) {
    failures_ = 0;
    ends_.clear();
  }
  ends_.push_back(now);
  while (ends_.size() > static_cast<std::size_t>(loop_ends)) ends_.pop_front();
  const bool loop = ends_.size() == static_cast<std::size_t>(loop_ends) && now - ends_.front() <= loop_window;
  // Longer back-off makes exits rarer without curing anything, so waiting does not end a crash loop: only health or a
  // manual restart does.
  if (loop || (trouble_ == clients::server_state::crash_loop && failures_ != 0))
    trouble_ = clients::server_state::crash_loop;
  else
    trouble_ = clients::server_state::restarting;
}

void supervisor_core::plan_restart(time_point now, std::size_t crowd, milliseconds least) {
  is_restart_ = true;
  // The first restart comes at once, the next ones after 0.2 s × 2^n with n = 0, 1, …
  duration wait{};
  if (failures_ > 0) {
    const auto doubled = std::min(first_back_off * (std::int64_t{1} << std::min(failures_ - 1, 20)), longest_back_off);
    wait = std::chrono::duration_cast<duration>(doubled * jitter());
    // At the cap the upper half of the jitter is folded down, which keeps both the cap and the spread.
    if (wait > longest_back_off) wait = 2 * duration(longest_back_off) - wait;
  }
  ++failures_;
  if (crowd > 0) wait += std::chrono::duration_cast<duration>(stagger * (static_cast<double>(crowd) * fresh_jitter()));
  launch_at(now + std::max<duration>(wait, least));
}

/// Returns a factor of ±20 %. Every second one mirrors the one before it, so that a series of short waits cannot lead
/// to more starts than the rule allows.
double supervisor_core::jitter() {
  last_jitter_ = failures_ % 2 == 0 ? 2 - last_jitter_ : fresh_jitter();
  return last_jitter_;
}

double supervisor_core::fresh_jitter() {
  return 0.8 + 0.4 * (static_cast<double>(random_.next() >> 11) * 0x1p-53);
}

void supervisor_core::end(time_point now, then next, bool hurried) {
  phase_ = phase::ending;
  then_ = next;
  ask_at_ = now;
  insist_at_ = hurried ? now : now + insist_after;
  force_at_ = insist_at_ + (hurried ? hurried_force_after : force_after);
  abandon_at_ = force_at_ + abandon_after;
}

}  // namespace mcpbx::mcp::supervise

// Replaces a keeper that died (docs/guarantees.md, G21): ends and reaps its processes, reports each of them, then
// starts a new keeper. The same sweep leaves nothing behind at the daemon's own end.
#include "mcp/process/keeper/keeper_impl.hpp"
#include "mcp/support/log.hpp"

#include <signal.h>
#include <sys/wait.h>

#include <algorithm>
#include <chrono>
#include <ctime>
#include <utility>

namespace mcpbx::mcp::keepers {
namespace {

using namespace std::chrono_literals;

constexpr auto sweep_pause = 5ms;
constexpr int sweep_steps = 1000;  // beyond it, processes that cannot be killed are left to init
constexpr auto fork_retry = 1s;
constexpr auto stray_pause = 1s;
constexpr auto keeper_end_limit = 5s;
constexpr auto last_chance = 2s;

void pause_for(std::chrono::milliseconds time) {
  const timespec t{time.count() / 1000, time.count() % 1000 * 1'000'000};
  ::nanosleep(&t, nullptr);
}

}  // namespace

std::vector<pid_t> keeper::impl::leaders() const {
  std::vector<pid_t> pids;
  for (const auto& [number, p] : processes_)
    if (p->pid > 0 && p->generation == generation_) pids.push_back(p->pid);
  return pids;
}

// Returns the time of the oldest start that the keeper has not answered yet, or `never`.
time_point keeper::impl::oldest_question() const {
  time_point oldest = never;
  for (const auto& [number, p] : processes_)
    if (p->pid < 0 && p->generation == generation_) oldest = std::min(oldest, p->asked_at);
  return oldest;
}

void keeper::impl::watch_answers(milliseconds grace) {
  if (watching_answers_ || phase_ != phase::running) return;
  const auto oldest = oldest_question();
  if (oldest == never) return;
  watching_answers_ = true;
  answer_clock_->arm(oldest + options_.answer_limit + grace, [weak = weak_from_this(), again = grace.count() != 0] {
    const auto self = weak.lock();
    if (!self) return;
    self->watching_answers_ = false;
    if (self->phase_ == phase::running) self->on_answer_limit(again);
  });
}

void keeper::impl::stop_watching_answers() {
  answer_clock_->cancel();
  watching_answers_ = false;
}

// Calls `then` later, unless this object is gone by then.
void keeper::impl::arm(timer& t, duration from_now, void (impl::*then)()) {
  t.arm(time_.now() + from_now, [weak = weak_from_this(), then] {
    if (const auto self = weak.lock()) ((*self).*then)();
  });
}

void keeper::impl::on_answer_limit(bool again) {
  // If the daemon itself was stopped for a while, the answers are waiting already.
  if (!receive_notices()) return;
  if (oldest_question() > time_.now() - options_.answer_limit) return watch_answers();
  if (!again) {
    // Somebody may have stopped the keeper, or the whole machine was suspended.
    ::kill(pid_, SIGCONT);
    return watch_answers(last_chance);
  }
  ::kill(pid_, SIGKILL);
  lost("has not answered for " +
       std::to_string(std::chrono::duration_cast<std::chrono::seconds>(options_.answer_limit + last_chance).count()) +
       " s");
}

void keeper::impl::lost(const std::string& how) {
  log::error("the keeper (pid " + std::to_string(pid_) + ") " + how +
             "; its tool servers are ended and it is replaced");
  phase_ = phase::replacing;
  stop_watching_answers();
  swept_ = false;
  sweeps_ = 0;
  boost::system::error_code ignored;
  control_.close(ignored);
  channel_.reset();
  sweep_.emplace(pid_, leaders());
  sweep();
}

void keeper::impl::sweep() {
  if (phase_ != phase::replacing) return;
  if (!sweep_->step() && ++sweeps_ < sweep_steps) {
    return arm(*clock_, sweep_pause, &impl::sweep);
  }
  const auto kept = sweep_->strays();
  strays_.insert(strays_.end(), kept.begin(), kept.end());
  sweep_.reset();
  if (!strays_.empty()) watch_strays();
  swept_ = true;
  std::vector<entry_ptr> orphaned;
  for (const auto& [number, p] : processes_)
    if (p->generation == generation_) orphaned.push_back(p);
  for (const auto& p : orphaned) {
    if (!p->events) continue;  // dropped by another process's event
    if (p->pid < 0) {
      fail_start(p->number, {errc::unavailable, "the process that starts tool servers died meanwhile; try again"});
    } else {
      end(p, {true, SIGKILL});
    }
    if (phase_ != phase::replacing) return;
  }
  replace_when_told();
}

// Starts the new keeper once every old process has been reported, so that on_lost finds a clean table.
void keeper::impl::replace_when_told() {
  if (phase_ != phase::replacing || !swept_) return;
  for (const auto& [number, p] : processes_)
    if (p->generation == generation_) return;
  replace();
}

void keeper::impl::replace() {
  auto fresh = fork_keeper(options_);
  if (!fresh) {
    log::error(fresh.error().message);
    return arm(*clock_, fork_retry, &impl::replace_when_told);
  }
  adopt(*fresh);
  if (on_lost_) on_lost_();
}

void keeper::impl::watch_strays() {
  arm(*stray_clock_, stray_pause, &impl::reap_strays);
}

void keeper::impl::reap_strays() {
  std::erase_if(strays_, reap_child);
  if (!strays_.empty()) watch_strays();
}

void keeper::impl::shut_down() {
  if (phase_ == phase::over) return;
  const bool had_keeper = phase_ == phase::running;
  const auto servers = leaders();
  phase_ = phase::over;
  clock_->cancel();
  stray_clock_->cancel();
  stop_watching_answers();
  for (const auto& [number, p] : std::exchange(processes_, {})) {
    p->events = nullptr;
    p->patience.reset();
    if (p->errors) p->errors->close();
  }
  boost::system::error_code ignored;
  control_.close(ignored);
  channel_.reset();
  if (had_keeper) {
    const auto limit = std::chrono::steady_clock::now() + keeper_end_limit;
    bool ended = false;
    while (!(ended = reap_child(pid_)) && std::chrono::steady_clock::now() < limit) pause_for(1ms);
    if (!ended) log::error("the keeper did not end within 5 s and is killed");
    // The keeper may have been killed a moment ago, unnoticed so far: sweep what it left.
    sweep_.emplace(pid_, servers, ended);
  }
  for (int i = 0; sweep_ && i < sweep_steps && !sweep_->step(); ++i) pause_for(1ms);
  sweep_.reset();
  pid_ = -1;
}

}  // namespace mcpbx::mcp::keepers

// The turned clock: time stands still until a test advances it, and then timers fire in the order of their moments. So
// back-off, deadlines and expiry are tested without waiting.
#pragma once
#include "mcp/support/time.hpp"

#include <chrono>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <stdexcept>
#include <utility>

namespace mcpbx::test {

class manual_time final : public time_source {
 public:
  manual_time() : state_(std::make_shared<state>()) {}

  time_point now() const override { return state_->now; }
  std::int64_t wall_ms() const override {
    return state_->wall_start_ms + std::chrono::duration_cast<milliseconds>(state_->now - start()).count();
  }
  std::unique_ptr<timer> make_timer() override { return std::make_unique<manual_timer>(state_); }

  /// Turns the clock on by `by`, stopping at each due timer on the way, also at those armed by a timer that fired.
  /// Timers of one moment fire in the order in which they were armed. Callbacks may arm, cancel and destroy any timer.
  void advance(milliseconds by) {
    const time_point target = state_->now + by;
    for (int fired = 0;; ++fired) {
      if (fired == 1'000'000)
        throw std::logic_error("manual_time: timers re-arm themselves for the same moment for ever");
      auto first = state_->armed.begin();
      if (first == state_->armed.end() || first->first.first > target) break;
      if (first->first.first > state_->now) state_->now = first->first.first;
      auto fire = std::move(first->second);
      state_->armed.erase(first);
      fire();
    }
    state_->now = target;
  }

  /// Somebody sets the wall clock: it jumps by `by`, forward or back, and the time that passes does not (G27).
  void jump_wall(milliseconds by) { state_->wall_start_ms += by.count(); }

  /// Timers that wait to fire.
  std::size_t armed() const { return state_->armed.size(); }
  /// The moment of the next timer, or `never`.
  time_point next_due() const { return state_->armed.empty() ? never : state_->armed.begin()->first.first; }

 private:
  using key = std::pair<time_point, std::uint64_t>;
  static time_point start() { return time_point{} + std::chrono::hours(1); }
  struct state {
    time_point now = start();
    std::int64_t wall_start_ms = 1'700'000'000'000;
    std::uint64_t armings = 0;
    std::map<key, std::function<void()>> armed;
  };

  class manual_timer final : public timer {
   public:
    explicit manual_timer(std::shared_ptr<state> s) : state_(std::move(s)) {}
    ~manual_timer() override { manual_timer::cancel(); }
    manual_timer(const manual_timer&) = delete;
    manual_timer& operator=(const manual_timer&) = delete;
    void arm(time_point when, std::function<void()> fire) override {
      manual_timer::cancel();
      key_ = {when, ++state_->armings};
      state_->armed.emplace(key_, std::move(fire));
    }
    void arm_next(std::function<void()> fire) override { manual_timer::arm(state_->now, std::move(fire)); }
    // A key is never used twice, so cancelling after the timer fired finds nothing.
    void cancel() override {
      auto found = state_->armed.find(key_);
      if (found == state_->armed.end()) return;
      auto dropped = std::move(found->second);  // may own other timers: let them go after the erase
      state_->armed.erase(found);
    }

   private:
    std::shared_ptr<state> state_;
    key key_{};
  };

  std::shared_ptr<state> state_;
};

/// "Random" numbers that count: the first, then one `step` more each time.
class counting_random final : public random_source {
 public:
  explicit counting_random(std::uint64_t first = 1, std::uint64_t step = 1) : next_(first), step_(step) {}
  std::uint64_t next() override { return std::exchange(next_, next_ + step_); }

 private:
  std::uint64_t next_, step_;
};

}  // namespace mcpbx::test

// Memory after load: what runs have let go of goes back to the system. A core.
#pragma once
#include "mcp/support/time.hpp"

#include <cstdint>
#include <functional>
#include <memory>
#include <utility>

namespace mcpbx::daemon {

class heap_trimmer {
 public:
  static constexpr milliseconds pause{1'000};
  static constexpr std::int64_t worth_it = 8 << 20;  ///< bytes that it has grown by since the last time

  /// `overhead`: bytes of the process beyond those that it owns; < 0: not known. `is_busy`: runs are going on.
  /// `give_back` lets go of what is free. `time` must outlive the trimmer.
  struct world {
    std::function<std::int64_t()> overhead;
    std::function<bool()> is_busy;
    std::function<void()> give_back;
  };
  heap_trimmer(time_source& time, world w) : time_(time), world_(std::move(w)) {}

  /// A run has ended: looks a second later, and again each second until there is nothing to give back any more.
  void run_ended() {
    if (std::exchange(armed_, true)) return;
    if (!timer_) timer_ = time_.make_timer();
    timer_->arm(time_.now() + pause, [this] { look(); });
  }

 private:
  // Two figures: memory that stays under load need not stay behind it. What was still in use at the last look is no
  // measure for the next one, which therefore tries.
  void look() {
    armed_ = false;
    auto& left = world_.is_busy() ? left_busy_ : left_idle_;
    const auto before = world_.overhead();
    if (!gave_ && before < left + worth_it) return;
    world_.give_back();
    left = world_.overhead();
    gave_ = before - left >= worth_it;
    if (gave_) run_ended();  // what callers had still to read then is free a moment later
  }

  time_source& time_;
  world world_;
  std::unique_ptr<timer> timer_;
  std::int64_t left_busy_ = 0, left_idle_ = 0;  // the last time
  bool armed_ = false, gave_ = false;           // gave_: the last look did
};

}  // namespace mcpbx::daemon

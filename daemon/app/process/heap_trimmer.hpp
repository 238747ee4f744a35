// Return of free heap memory to the system after load. Pure; the actions are passed in.
#pragma once
#include "mcp/support/time.hpp"

#include <cstdint>
#include <functional>
#include <memory>
#include <utility>

namespace mcpbx::daemon::process {

class heap_trimmer {
 public:
  static constexpr milliseconds pause{1'000};
  static constexpr std::int64_t worth_it = 8 << 20;  ///< least growth, in bytes, since the last look

  /// `overhead` returns the bytes of the process beyond those it owns; < 0: unknown. `is_busy` returns true while runs
  /// go on. `give_back` releases free memory. `time` must outlive the trimmer.
  struct world {
    std::function<std::int64_t()> overhead;
    std::function<bool()> is_busy;
    std::function<void()> give_back;
  };
  heap_trimmer(time_source& time, world w) : time_(time), world_(std::move(w)) {}

  /// Schedules a look in one second after the end of a run, and one each second until nothing is left to release.
  void run_ended() {
    if (std::exchange(armed_, true)) return;
    if (!timer_) timer_ = time_.make_timer();
    timer_->arm(time_.now() + pause, [this] { look(); });
  }

 private:
  // Keeps two figures, because memory that stays in use under load need not stay afterwards. Memory in use at a busy
  // look is no measure for the next idle one, which therefore tries.
  void look() {
    armed_ = false;
    auto& left = world_.is_busy() ? left_busy_ : left_idle_;
    const auto before = world_.overhead();
    if (!gave_ && before < left + worth_it) return;
    world_.give_back();
    left = world_.overhead();
    gave_ = before - left >= worth_it;
    if (gave_) run_ended();  // callers may still have been reading; their memory is free a moment later
  }

  time_source& time_;
  world world_;
  std::unique_ptr<timer> timer_;
  std::int64_t left_busy_ = 0, left_idle_ = 0;  // overhead after the last look
  bool armed_ = false, gave_ = false;           // gave_: the last look released memory
};

}  // namespace mcpbx::daemon::process

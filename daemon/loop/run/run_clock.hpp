// Time that a run uses, against its limit. The clock stands while only people are waited for (L8).
#pragma once
#include "daemon/store/records/record.hpp"
#include "mcp/support/time.hpp"

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>

namespace mcpbx::daemon {

/// Belongs to one run. The callbacks may use it, and must not destroy it.
class run_clock {
 public:
  struct told {
    std::function<void()> limit_reached;  ///< once, unless stop() comes first
    std::function<void()> note_due;       ///< it is time to record the time used; ask take_note()
  };
  /// Begins now. `limits` are looked at whenever they matter, and must outlive this.
  run_clock(time_source& time, const run_limits& limits, told t);

  /// Before start(): an earlier process has used so much of the run's time.
  void used_before(milliseconds by) { began_ -= by; }
  /// From here on the limit is watched.
  void start() { arm_limit(); }
  /// Lets the clock stand, or go on.
  void stand(bool stands);
  /// No limit is watched, and no note asked for, any more.
  void stop();

  /// Has note_due come once after a while, sooner where the limit is short. Nothing without a limit.
  void plan_note();
  /// The time used, in ms, if it differs from what this gave last.
  std::optional<std::int64_t> take_note();

  std::int64_t elapsed_ms() const;
  /// Until the limit; milliseconds::max() without one. Negative where it has passed.
  milliseconds left() const;
  std::int64_t ms_since(time_point then) const;
  /// By the clock that does not stand.
  std::int64_t ms_since_begin() const { return ms_since(began_); }

 private:
  void arm_limit();

  time_source& time_;
  const run_limits& limits_;
  told told_;
  time_point began_;
  std::optional<time_point> stands_since_;
  milliseconds stood_{0};
  std::int64_t noted_ms_ = 0;
  std::unique_ptr<timer> limit_, note_;
};

}  // namespace mcpbx::daemon

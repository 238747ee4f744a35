// Measures the time that a run uses, and watches its time limit. The clock is stopped while the run waits only for
// people (docs/requirements.md, L8).
#pragma once
#include "daemon/store/records/record.hpp"
#include "mcp/support/time.hpp"

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>

namespace mcpbx::daemon::limits {

/// Belongs to one run. The callbacks may call it, but must not destroy it.
class run_clock {
 public:
  struct callbacks {
    std::function<void()> limit_reached;  ///< called when the time limit is reached, unless stop() was called
    std::function<void()> note_due;       ///< called when the used time is due to be recorded; see take_note()
  };
  /// Begins to count. `time` and `limits` must outlive this object; changes of `limits.timeout_ms` (0: no limit) count.
  run_clock(time_source& time, const stored::run_limits& limits, callbacks c);

  /// Adds the time that an earlier process has used. To be called before start().
  void used_before(milliseconds by) { began_ -= by; }
  /// Begins to watch the limit.
  void start() { arm_limit(); }
  /// Stops the clock, or lets it run again.
  void stand(bool stands);
  /// Ends the watch on the limit and the planned note.
  void stop();

  /// Plans one call of note_due: after an eighth of the limit, but 100 ms to 5 s. Does nothing without a limit.
  void plan_note();
  /// Returns the used time in ms; nullopt if it is the same as at the last call.
  std::optional<std::int64_t> take_note();

  /// Returns the used time in ms, without the time that the clock was stopped.
  std::int64_t elapsed_ms() const;
  /// Returns the time left until the limit, negative if it has passed; milliseconds::max() without a limit.
  milliseconds left() const;
  /// Returns the time since `then` in ms, also while the clock is stopped.
  std::int64_t ms_since(time_point then) const;
  /// Returns the time since the beginning in ms, with the time that the clock was stopped.
  std::int64_t ms_since_begin() const { return ms_since(began_); }

 private:
  void arm_limit();

  time_source& time_;
  const stored::run_limits& limits_;
  callbacks callbacks_;
  time_point began_;
  std::optional<time_point> stands_since_;
  milliseconds stood_{0};
  std::int64_t noted_ms_ = 0;
  std::unique_ptr<timer> limit_, note_;
};

}  // namespace mcpbx::daemon::limits

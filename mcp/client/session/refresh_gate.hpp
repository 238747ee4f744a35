// Decides when to fetch a changed list again (docs/guarantees.md, G10): at most one fetch runs and one waits. The gap
// between two grows while the server keeps reporting changes, faster if nothing had changed. Changes that are reported
// one by one, a second apart, wait for a second at most.
#pragma once
#include "mcp/support/time.hpp"

#include <algorithm>

namespace mcpbx::mcp::session {

class refresh_gate {
 public:
  static constexpr milliseconds least_gap{200}, most_gap{5'000}, calm{1'000}, quiet{10'000}, retry_gap{5'000},
      most_retry_gap{60'000};

  /// Begins the first fetch, which needs no reason.
  void begin() { running_ = true; }
  /// Notes that the server reports a change of the list.
  void changed(time_point now) {
    const bool calmly = failures_ == 0 && now - told_ >= calm;
    told_ = now;
    stale(now);
    if (calmly) gap_ = std::min(gap_, calm);
  }
  /// Notes that the list should be fetched again without a report, since its time is over.
  void stale(time_point now) {
    if (!running_ && !wanted_ && now - ended_ >= quiet) gap_ = least_gap;
    wanted_ = true;
  }
  /// Returns true if a fetch is to start now; it then counts as running.
  bool start(time_point now) {
    if (now < next()) return false;
    wanted_ = false;
    running_ = true;
    again_ = true;
    return true;
  }
  /// Ends the running fetch. `differed`: it found another list than before.
  void finished(time_point now, bool differed) {
    running_ = false;
    ended_ = now;
    failures_ = 0;
    if (again_) gap_ = std::min(most_gap, gap_ * (differed ? 2 : 5));
  }
  /// Ends the running fetch as failed. Another one is due after a growing delay.
  void failed(time_point now) {
    running_ = false;
    ended_ = now;
    wanted_ = true;
    gap_ = std::min(most_retry_gap, retry_gap * (1 << std::min(failures_++, 4)));
  }
  bool running() const noexcept { return running_; }
  /// Returns the time from which start() may return true, or `never`.
  time_point next() const { return running_ || !wanted_ ? never : ended_ + gap_; }

 private:
  bool running_ = false, wanted_ = false, again_ = false;
  int failures_ = 0;
  milliseconds gap_ = least_gap;
  time_point ended_{};
  time_point told_{};  // of the last report
};

}  // namespace mcpbx::mcp::session

// Reaps children that nobody waits for. The daemon is a subreaper: what a `${cmd:…}` leaves running becomes its child.
#pragma once
#include "mcp/support/time.hpp"

#include <sys/types.h>

#include <functional>
#include <memory>
#include <set>

namespace mcpbx::daemon {

class stray_reaper {
 public:
  /// A child that has ended is left alone for so long: whoever started it waits for it.
  static constexpr milliseconds patience{2'000};
  /// `is_waited_for`: children that are never reaped here.
  stray_reaper(time_source& time, std::function<bool(pid_t)> is_waited_for);
  /// A child has ended.
  void look();

 private:
  void reap();
  time_source& time_;
  std::function<bool(pid_t)> is_waited_for_;
  std::unique_ptr<timer> timer_;
  std::set<pid_t> seen_;  // had ended at the last look
  bool armed_ = false;
};

}  // namespace mcpbx::daemon

// Reaper of children that nobody waits for. The daemon is a subreaper: processes that a `${cmd:…}` leaves running
// become its children.
#pragma once
#include "mcp/support/time.hpp"

#include <sys/types.h>

#include <functional>
#include <memory>
#include <set>

namespace mcpbx::daemon::process {

class stray_reaper {
 public:
  /// Time that an ended child is left to the code that started it.
  static constexpr milliseconds patience{2'000};
  /// `is_waited_for` returns true for children that must never be reaped here.
  stray_reaper(time_source& time, std::function<bool(pid_t)> is_waited_for);
  /// Looks for ended children. To be called at SIGCHLD.
  void look();

 private:
  void reap();
  time_source& time_;
  std::function<bool(pid_t)> is_waited_for_;
  std::unique_ptr<timer> timer_;
  std::set<pid_t> seen_;  // children that had ended at the last look
  bool armed_ = false;
};

}  // namespace mcpbx::daemon::process

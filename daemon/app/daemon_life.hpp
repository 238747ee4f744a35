// The daemon's life from its first caller to its end: signals, the end of an idle daemon, and the stop in order.
#pragma once
#include "daemon/app/base_parts.hpp"
#include "daemon/app/entrances.hpp"
#include "daemon/app/process/service.hpp"
#include "daemon/app/reloading.hpp"
#include "daemon/app/run_parts.hpp"
#include "daemon/app/tool_servers.hpp"
#include "mcp/support/time.hpp"

#include <memory>
#include <string>

namespace mcpbx::daemon::app {

class daemon_life {
 public:
  /// Takes over requests to stop. `idle_exit` is the time without callers and runs after which the daemon stops; 0:
  /// never. All arguments must outlive this object.
  daemon_life(base_parts& base, tool_servers& servers, run_parts& runs, reloading& reload, entrances& ways_in,
              milliseconds idle_exit);

  /// Runs the event loop until the daemon has stopped. Returns the exit status.
  int run();

 private:
  void next_signal();
  void on_signal(int number);
  void stop(const std::string& why);
  void finish();
  void watch_idle();
  bool is_idle() const;

  base_parts& base_;
  tool_servers& servers_;
  run_parts& runs_;
  reloading& reload_;
  entrances& ways_in_;
  milliseconds idle_exit_;
  process::watchdog watchdog_;
  std::unique_ptr<timer> idle_timer_;  // null: the daemon does not stop when idle
  bool stopping_ = false;
};

}  // namespace mcpbx::daemon::app

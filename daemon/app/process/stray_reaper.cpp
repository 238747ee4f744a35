// Reaping of a child at the second look that finds it ended.
#include "daemon/app/process/stray_reaper.hpp"

#include "mcp/process/process_tree.hpp"

#include <sys/wait.h>
#include <unistd.h>

#include <utility>

namespace mcpbx::daemon::process {

stray_reaper::stray_reaper(time_source& time, std::function<bool(pid_t)> is_waited_for)
    : time_(time), is_waited_for_(std::move(is_waited_for)), timer_(time.make_timer()) {}

void stray_reaper::look() {
  if (std::exchange(armed_, true)) return;
  timer_->arm(time_.now() + patience, [this] { reap(); });
}

void stray_reaper::reap() {
  armed_ = false;
  std::set<pid_t> ended;
  for (const auto& node : mcp::process::processes_below(::getpid())) {
    if (node.parent != ::getpid() || !mcp::process::has_ended(node.pid) || is_waited_for_(node.pid)) continue;
    if (!seen_.contains(node.pid) || ::waitpid(node.pid, nullptr, WNOHANG) != node.pid) ended.insert(node.pid);
  }
  seen_ = std::move(ended);
  if (!seen_.empty()) look();
}

}  // namespace mcpbx::daemon::process

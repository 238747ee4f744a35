// Repeated look-ups, by a timer, of callers whose process is not known yet.
#include "daemon/app/callers/early_callers.hpp"

#include <utility>

namespace mcpbx::daemon::callers {

early_callers::early_callers(time_source& time, std::function<bool(pid_t)> not_known_yet,
                             std::function<void(int, mcp::socket::peer_credentials)> enter)
    : time_(time), not_known_yet_(std::move(not_known_yet)), enter_(std::move(enter)), timer_(time.make_timer()) {}

void early_callers::came(int fd, mcp::socket::peer_credentials peer) {
  if (waiting_.size() >= most || !not_known_yet_(peer.pid)) return enter_(fd, std::move(peer));
  waiting_.push_back({mcp::process::unique_fd(fd), std::move(peer), time_.now() + longest});
  if (waiting_.size() == 1) arm();
}

void early_callers::arm() {
  timer_->arm(time_.now() + between_looks, [this] { look(); });
}

void early_callers::look() {
  // `enter_` may add callers to the list from inside the call.
  for (auto& w : std::exchange(waiting_, {})) {
    if (w.until > time_.now() && not_known_yet_(w.peer.pid))
      waiting_.push_back(std::move(w));
    else
      enter_(w.fd.release(), std::move(w.peer));
  }
  if (!waiting_.empty()) arm();
}

}  // namespace mcpbx::daemon::callers

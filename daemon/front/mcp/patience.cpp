// The timer is armed for the first waiter and stays armed when that one ends to wait; look() then arms it again.
#include "daemon/front/mcp/patience.hpp"

namespace mcpbx::daemon::mcp_door {

void patience::begin(waiter& who) {
  who.due_ = time_.now() + length_;
  waiting_.push_back(who);
  arm();
}

void patience::arm() {
  if (armed_ || waiting_.empty()) return;
  armed_ = true;
  timer_->arm(waiting_.front().due_, [this] {
    armed_ = false;
    look();
  });
}

void patience::look() {
  const auto now = time_.now();
  while (!waiting_.empty() && waiting_.front().due_ <= now) {
    auto& first = waiting_.front();
    waiting_.pop_front();
    first.on_waited();
  }
  arm();
}

}  // namespace mcpbx::daemon::mcp_door

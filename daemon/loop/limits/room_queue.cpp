// Calls one waiting run per turn, so that the check for the next one counts the memory that this one has taken.
#include "daemon/loop/limits/room_queue.hpp"

#include <exception>
#include <utility>

namespace mcpbx::daemon::limits {

std::unique_ptr<room_queue::place> room_queue::enter(std::function<void()> turn) {
  if (!next_turn_) next_turn_ = time_.make_timer();
  auto p = std::make_unique<place>(*this, std::move(turn));
  waiting_.push_back(p.get());
  if (waiting_.size() == 1) go_on();
  return p;
}

void room_queue::leave(const place& p) {
  std::erase(waiting_, &p);
  if (!waiting_.empty()) return;
  end();
  if (next_turn_) next_turn_->cancel();
}

void room_queue::go_on() {
  if (waiting_.empty()) return;
  if (byte_account::runs_short())
    begin();
  else
    next_turn_->arm_next([this] { call(); });
}

// Arms a timer, because this may be called in the middle of any code. If even that fails for want of memory, waits for
// the next notification.
void room_queue::on_room() noexcept {
  try {
    next_turn_->arm_next([this] { call(); });
  } catch (const std::exception&) {
    begin();
  }
}

void room_queue::call() {
  if (!waiting_.empty() && !byte_account::runs_short()) {
    auto* const first = waiting_.front();
    waiting_.pop_front();
    first->called_ = true;
    std::exchange(first->turn_, nullptr)();
  }
  go_on();
}

}  // namespace mcpbx::daemon::limits

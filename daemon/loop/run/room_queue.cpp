// One is called in each turn, so that the next one sees what it has taken.
#include "daemon/loop/run/room_queue.hpp"

#include <exception>
#include <utility>

namespace mcpbx::daemon {

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

// Where there is no memory to arm a timer with, the next bytes that are let go of tell it again.
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

}  // namespace mcpbx::daemon

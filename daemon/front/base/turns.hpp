// Fair share of the main thread for one caller: a read may hold thousands of expensive requests. Requests beyond a
// turn's share wait, in order, until other callers have had their turns.
#pragma once
#include "mcp/support/small_queue.hpp"
#include "mcp/support/time.hpp"

#include <cstddef>
#include <functional>
#include <utility>

namespace mcpbx::daemon::front {

class turns {
 public:
  static constexpr std::size_t most_at_once = 256;  ///< messages of one caller in a turn
  static constexpr milliseconds longest{2};         ///< time after which no further work begins in a turn

  /// `ask_turn` schedules a call of run() in a later turn; `time` must outlive this object.
  turns(const time_source& time, std::function<void()> ask_turn) : time_(time), ask_turn_(std::move(ask_turn)) {}

  /// Returns true, and counts, if the next piece of work may be done now. False: it has to wait(), behind earlier work.
  bool admit() {
    if (!waiting_.empty()) return false;
    if (!std::exchange(begun_, true)) {
      begin();
      ask_turn_();
    }
    return has_room();
  }
  void wait(std::move_only_function<void()> work) { waiting_.push_back(std::move(work)); }
  bool waiting() const noexcept { return !waiting_.empty(); }

  /// Begins a new turn and does waiting work while there is room.
  void run() {
    begin();
    while (!waiting_.empty() && has_room()) {
      auto work = std::move(waiting_.front());
      waiting_.pop_front();
      work();
    }
    begun_ = !waiting_.empty();
    if (begun_) ask_turn_();
  }
  /// Drops all waiting work.
  void clear() { std::exchange(waiting_, {}).clear(); }

 private:
  void begin() {
    done_ = 0;
    end_ = time_.now() + longest;
  }
  bool has_room() {
    if (done_ != 0 && (done_ >= most_at_once || time_.now() >= end_)) return false;
    ++done_;
    return true;
  }

  const time_source& time_;
  std::function<void()> ask_turn_;
  small_queue<std::move_only_function<void()>> waiting_;
  time_point end_{};
  std::size_t done_ = 0;
  bool begun_ = false;  // run() is scheduled
};

}  // namespace mcpbx::daemon::front

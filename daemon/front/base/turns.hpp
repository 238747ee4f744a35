// How much of what one caller says is done at once: a read may hold thousands of requests, and each of them may be
// dear. What goes beyond a turn's share waits, in its order, until the others have had theirs.
#pragma once
#include "mcp/support/time.hpp"

#include <cstddef>
#include <deque>
#include <functional>
#include <utility>

namespace mcpbx::daemon {

class turns {
 public:
  static constexpr std::size_t most_at_once = 256;  ///< messages of one caller in a turn
  static constexpr milliseconds longest{2};         ///< after so long no further one is begun in it

  /// `ask_turn` has run() called in a later turn; `time` must outlive this.
  turns(const time_source& time, std::function<void()> ask_turn) : time_(time), ask_turn_(std::move(ask_turn)) {}

  /// Whether the next piece of work may be done now; it is counted. False: it has to wait(), behind what waits already.
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

  /// A new turn: does what waits, as far as there is room.
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
  /// Forgets what waits.
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
  std::deque<std::move_only_function<void()>> waiting_;
  time_point end_{};
  std::size_t done_ = 0;
  bool begun_ = false;  // run() has been asked for
};

}  // namespace mcpbx::daemon

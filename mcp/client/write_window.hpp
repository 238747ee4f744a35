// What has been sent to a tool server and not yet taken by the system: how many requests, and whether the server still
// reads (guarantees row 5; the queue table of the design). Counts in bytes of the connection's outbox.
#pragma once
#include "mcp/support/time.hpp"

#include <cstddef>
#include <cstdint>
#include <deque>

namespace mcpbx::mcp {

class write_window {
 public:
  static constexpr milliseconds most_stall{30'000};

  /// Whether nothing is on its way: begin() comes before the next sent(). Only then the time is needed, and asking for
  /// it with each of many messages would cost more than all of this.
  bool idle() const noexcept { return stalled_since_ == never; }
  void begin(time_point now) {
    stalled_since_ = now;
    seen_ = queued_;
  }
  /// A message of `bytes` was handed to the connection.
  void sent(std::size_t bytes, bool is_request) {
    queued_ += bytes;
    if (is_request) requests_.push_back(queued_);
  }
  /// Requests that are not written in full while `unsent` bytes wait.
  std::size_t requests(std::size_t unsent) {
    const std::uint64_t written = queued_ - unsent;
    while (!requests_.empty() && requests_.front() <= written) requests_.pop_front();
    return requests_.size();
  }
  void drained() {
    requests_.clear();
    stalled_since_ = never;
  }
  /// Whether nothing at all was taken for 30 s.
  bool stalled(std::size_t unsent, time_point now) {
    if (unsent == 0) {
      drained();
      return false;
    }
    const std::uint64_t written = queued_ - unsent;
    if (written != seen_ || stalled_since_ == never) {
      seen_ = written;
      stalled_since_ = now;
    }
    return now - stalled_since_ >= most_stall;
  }
  /// When stalled() should be asked, or `never`.
  time_point next_time() const { return stalled_since_ == never ? never : stalled_since_ + most_stall; }

 private:
  std::uint64_t queued_ = 0, seen_ = 0;
  std::deque<std::uint64_t> requests_;  // where each one ends in the stream
  time_point stalled_since_ = never;
};

}  // namespace mcpbx::mcp

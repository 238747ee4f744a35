// The requests sent to a tool server and not yet taken by the system, with their askers, and a check that the server
// still reads (docs/guarantees.md, G5, G18). Counts in bytes of the connection's outbox.
#pragma once
#include "mcp/support/time.hpp"

#include <cstddef>
#include <cstdint>
#include <deque>

namespace mcpbx::mcp::session {

class write_window {
 public:
  static constexpr milliseconds most_stall{30'000};

  /// Returns true if nothing is on its way; begin() must then come before the next sent(). Only begin() needs the time,
  /// since reading the clock for each message would cost more than all of this class.
  bool idle() const noexcept { return stalled_since_ == never; }
  void begin(time_point now) {
    stalled_since_ = now;
    seen_ = queued_;
  }
  /// Counts a message of `bytes` as handed to the connection.
  void sent(std::size_t bytes) { queued_ += bytes; }
  /// Counts a request in the same way. `asker` identifies its asker; it is only compared.
  void sent_request(std::size_t bytes, const void* asker) {
    queued_ += bytes;
    requests_.push_back({queued_, bytes, asker});
  }
  /// Returns the number of requests that are not written in full while `unsent` bytes wait.
  std::size_t requests(std::size_t unsent) {
    const std::uint64_t written = queued_ - unsent;
    while (!requests_.empty() && requests_.front().end <= written) requests_.pop_front();
    return requests_.size();
  }
  /// A request that requests() counts.
  struct request {
    std::uint64_t end = 0;  ///< place in the stream where it ends
    std::size_t bytes = 0;
    const void* asker = nullptr;
  };
  /// Returns the requests that requests() counted last, in order.
  const std::deque<request>& unwritten() const noexcept { return requests_; }
  void drained() {
    requests_.clear();
    stalled_since_ = never;
  }
  /// Returns true if the system took no byte at all for 30 s.
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
  /// Returns the time at which stalled() should be asked, or `never`.
  time_point next_time() const { return stalled_since_ == never ? never : stalled_since_ + most_stall; }

 private:
  std::uint64_t queued_ = 0, seen_ = 0;
  std::deque<request> requests_;
  time_point stalled_since_ = never;
};

}  // namespace mcpbx::mcp::session

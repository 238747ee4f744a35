// A wait that polls instead of sleeping if the awaited event usually comes within microseconds.
#pragma once
#include "mcp/support/time.hpp"

#include <boost/asio/any_io_executor.hpp>

#include <chrono>
#include <memory>

namespace mcpbx::async {

/// A repeated wait of one coroutine for the same kind of event. If the last wait was short, the executor's thread polls
/// during the next one: waking it takes some 5 µs, and 20 to 60 on a virtual machine. Use it on that thread.
class short_wait {
 public:
  static constexpr std::chrono::microseconds longest{300};

  explicit short_wait(boost::asio::any_io_executor executor);
  /// Begins a wait. `may_watch` allows polling.
  void begin(time_point now, bool may_watch);
  /// Ends the wait: the awaited event has come.
  void end(time_point now);
  /// Returns true if the last ended wait was short.
  bool was_short() const noexcept { return was_short_; }

 private:
  struct watch;
  boost::asio::any_io_executor executor_;
  std::shared_ptr<const watch> watch_;
  time_point since_{};
  bool was_short_ = false;
};

}  // namespace mcpbx::async

// A wait that may be shorter than falling asleep and being woken.
#pragma once
#include "mcp/support/time.hpp"

#include <boost/asio/any_io_executor.hpp>

#include <chrono>
#include <memory>

namespace mcpbx {

/// One wait of a coroutine, again and again for the same kind of thing. When the last one was short, the thread of
/// `executor` does not sleep in the next one but looks for work, for as long as a short wait lasts: what another thread
/// or process gives within microseconds is there sooner than the system wakes a thread (some 5 µs, and 20 to 60 on a
/// virtual machine whose idle processors halt). What else comes is done as always, and between two looks whoever wants
/// the CPU gets it. All on the executor's thread.
class short_wait {
 public:
  static constexpr std::chrono::microseconds longest{300};

  explicit short_wait(boost::asio::any_io_executor executor);
  /// The wait begins. `may_watch`: whether it may be spent awake at all.
  void begin(time_point now, bool may_watch);
  /// What was waited for has come.
  void end(time_point now);
  /// Whether the last wait that ended was.
  bool was_short() const noexcept { return was_short_; }

 private:
  struct watch;
  boost::asio::any_io_executor executor_;
  std::shared_ptr<const watch> watch_;
  time_point since_{};
  bool was_short_ = false;
};

}  // namespace mcpbx

// Named threads for blocking work. The store, look-ups, long computations and the log each have a lane of their own;
// there is no shared pool. A job owns its data, and its answer comes back on the speaking thread.
#pragma once
#include "mcp/support/error.hpp"

#include <boost/asio/executor_work_guard.hpp>
#include <boost/asio/io_context.hpp>

#include <atomic>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <thread>
#include <vector>

namespace mcpbx::async {

class lane {
 public:
  /// `threads` is 1 … 4. Threads start at the first use, so that an idle lane costs nothing and an earlier fork is
  /// safe. They block all signals. If the system allows fewer, the lane works with those.
  lane(std::string name, int threads);
  ~lane();
  lane(const lane&) = delete;
  lane& operator=(const lane&) = delete;

  /// Runs `work` on the lane. Afterwards the thread polls for more work for `linger` before it sleeps, yielding its
  /// CPU, so that work that comes soon need not wake it. errc::unavailable: the lane has no thread and none can be
  /// started (a limit on processes); `work` does not run, and a later call tries again.
  [[nodiscard]] result<void> post(std::function<void()> work, std::chrono::microseconds linger = {});
  /// Waits for posted work, not for lingering threads, and ends the threads.
  void join();

 private:
  result<void> start();
  /// Announces new work, which ends all lingering.
  std::uint64_t come() noexcept { return ++come_; }
  void linger(std::uint64_t behind, std::chrono::microseconds at_most) const;

  std::string name_;
  std::size_t threads_;
  std::atomic<std::uint64_t> come_{0};
  boost::asio::io_context queue_;
  std::optional<boost::asio::executor_work_guard<boost::asio::io_context::executor_type>> open_;
  std::vector<std::thread> workers_;
};

}  // namespace mcpbx::async

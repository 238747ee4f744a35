// A named lane for blocking work: the store, name and reference resolution, long computations and the log each have
// their own, never a shared pool. Work goes out with its bytes, the answer comes back on the speaking thread.
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

namespace mcpbx {

class lane {
 public:
  /// `threads` 1 … 4. Threads start at the first use, so that an idle lane costs nothing and a fork before is safe.
  /// They block all signals. Where the system gives fewer, the lane does with those that it has.
  lane(std::string name, int threads);
  ~lane();
  lane(const lane&) = delete;
  lane& operator=(const lane&) = delete;

  /// Runs `work` on the lane; nobody waits. Behind it the thread looks for more to do for `linger` before it sleeps, so
  /// that what comes soon need not wake it; meanwhile whoever wants its CPU gets it. errc::unavailable where the lane
  /// has no thread and none can be started (a limit on processes): `work` does not run, and a later call tries again.
  [[nodiscard]] result<void> post(std::function<void()> work, std::chrono::microseconds linger = {});
  /// Waits for what was posted, not for a thread that lingers, and ends the threads.
  void join();

 private:
  result<void> start();
  /// Something comes, which ends all lingering.
  std::uint64_t come() noexcept { return ++come_; }
  void linger(std::uint64_t behind, std::chrono::microseconds at_most) const;

  std::string name_;
  std::size_t threads_;
  std::atomic<std::uint64_t> come_{0};
  boost::asio::io_context queue_;
  std::optional<boost::asio::executor_work_guard<boost::asio::io_context::executor_type>> open_;
  std::vector<std::thread> workers_;
};

}  // namespace mcpbx

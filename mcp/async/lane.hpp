// A named lane for blocking work (design rule 1): the store, name and reference resolution, long computations, the log
// each have their own, never a shared pool. Work goes out with its bytes, the answer comes back on the speaking thread.
#pragma once
#include <boost/asio/any_io_executor.hpp>
#include <boost/asio/awaitable.hpp>
#include <boost/asio/co_spawn.hpp>
#include <boost/asio/post.hpp>
#include <boost/asio/thread_pool.hpp>
#include <boost/asio/use_awaitable.hpp>

#include <atomic>
#include <chrono>
#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <type_traits>
#include <utility>

namespace mcpbx {

class lane {
 public:
  /// `threads` 1 … 4. Threads start at the first use, so that an idle lane costs nothing and a fork before is safe.
  /// They block all signals.
  lane(std::string name, int threads);
  ~lane();
  lane(const lane&) = delete;
  lane& operator=(const lane&) = delete;

  /// Runs `work()` on the lane and gives its value back to the awaiting coroutine on its own executor. An exception of
  /// `work` comes out of the await.
  template <class F>
  boost::asio::awaitable<std::invoke_result_t<F>> run(F work) {
    using value = std::invoke_result_t<F>;
    come();
    auto body = [](F w) -> boost::asio::awaitable<value> { co_return w(); };
    co_return co_await boost::asio::co_spawn(executor(), body(std::move(work)), boost::asio::use_awaitable);
  }
  /// Runs `work` on the lane; nobody waits. Behind it the thread looks for more to do for `linger` before it sleeps, so
  /// that what comes soon need not wake it; meanwhile whoever wants its CPU gets it.
  void post(std::function<void()> work, std::chrono::microseconds linger = {});
  /// Waits for what was posted, not for a thread that lingers, and ends the threads.
  void join();

 private:
  boost::asio::thread_pool::executor_type executor();
  /// Something comes, which ends all lingering.
  std::uint64_t come() noexcept { return ++come_; }
  void linger(std::uint64_t behind, std::chrono::microseconds at_most) const;

  std::string name_;
  int threads_;
  std::atomic<std::uint64_t> come_{0};
  std::unique_ptr<boost::asio::thread_pool> pool_;
};

}  // namespace mcpbx

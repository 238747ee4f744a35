// Lanes start their threads at the first use and with every signal blocked: signals belong to the speaking thread.
#include "mcp/async/lane.hpp"

#include "mcp/support/log.hpp"

#include <pthread.h>
#include <signal.h>

#include <algorithm>
#include <thread>

namespace mcpbx {

lane::lane(std::string name, int threads) : name_(std::move(name)), threads_(std::clamp(threads, 1, 4)) {}

lane::~lane() {
  join();
}

boost::asio::thread_pool::executor_type lane::executor() {
  if (!pool_) {
    sigset_t all, before;
    sigfillset(&all);
    pthread_sigmask(SIG_SETMASK, &all, &before);
    try {
      pool_ = std::make_unique<boost::asio::thread_pool>(static_cast<std::size_t>(threads_));
    } catch (...) {
      pthread_sigmask(SIG_SETMASK, &before, nullptr);
      throw;
    }
    pthread_sigmask(SIG_SETMASK, &before, nullptr);
  }
  return pool_->get_executor();
}

void lane::post(std::function<void()> work, std::chrono::microseconds linger) {
  boost::asio::post(executor(), [this, linger, self = come(), work = std::move(work)] {
    // Nobody waits for this work, and an exception that left a pool thread would end the process.
    try {
      work();
    } catch (const std::exception& e) {
      log::error("lane " + name_ + ": " + e.what());
    } catch (...) {
      log::error("lane " + name_ + ": an unknown exception");
    }
    this->linger(self, linger);
  });
}

void lane::linger(std::uint64_t behind, std::chrono::microseconds at_most) const {
  if (at_most.count() == 0) return;
  // The real clock: nothing depends on when this ends.
  const auto until = std::chrono::steady_clock::now() + at_most;
  while (come_ == behind && std::chrono::steady_clock::now() < until) std::this_thread::yield();
}

void lane::join() {
  if (!pool_) return;
  come();
  pool_->join();
  pool_.reset();
}

}  // namespace mcpbx

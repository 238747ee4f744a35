// Threads of lanes. They start at the first use with every signal blocked, since signals belong to the speaking thread.
#include "mcp/async/lane.hpp"

#include "mcp/support/log.hpp"

#include <boost/asio/post.hpp>

#include <pthread.h>
#include <signal.h>

#include <algorithm>
#include <exception>
#include <utility>

namespace mcpbx::async {

lane::lane(std::string name, int threads)
    : name_(std::move(name)),
      threads_(static_cast<std::size_t>(std::clamp(threads, 1, 4))),
      queue_(static_cast<int>(threads_)) {}

lane::~lane() {
  join();
}

// Starts missing threads. Fails only if there is none at all.
result<void> lane::start() {
  if (workers_.size() == threads_) return {};
  if (workers_.empty()) {
    if (!open_) open_.emplace(queue_.get_executor());
    queue_.restart();
  }
  sigset_t all, before;
  sigfillset(&all);
  pthread_sigmask(SIG_SETMASK, &all, &before);
  std::string why;
  try {
    workers_.reserve(threads_);
    while (workers_.size() < threads_) workers_.emplace_back([this] { queue_.run(); });
  } catch (const std::exception& e) {
    why = e.what();
  }
  pthread_sigmask(SIG_SETMASK, &before, nullptr);
  if (!workers_.empty()) return {};
  return fail(errc::unavailable, "no thread could be started for the lane \"" + name_ + "\" (" + why +
                                     "): see the limits on processes and threads (ulimit -u, pids.max)");
}

result<void> lane::post(std::function<void()> work, std::chrono::microseconds linger) {
  if (auto started = start(); !started) return started;
  boost::asio::post(queue_, [this, linger, self = come(), work = std::move(work)]() mutable {
    // An exception that leaves a thread would end the process, so log it here.
    try {
      work();
    } catch (const std::exception& e) {
      log::error("lane " + name_ + ": " + e.what());
    } catch (...) {
      log::error("lane " + name_ + ": an unknown exception");
    }
    work = nullptr;  // destroy captured objects before the thread lingers
    this->linger(self, linger);
  });
  return {};
}

void lane::linger(std::uint64_t behind, std::chrono::microseconds at_most) const {
  if (at_most.count() == 0) return;
  // Use the real clock, since no result depends on the end of this wait.
  const auto until = std::chrono::steady_clock::now() + at_most;
  while (come_ == behind && std::chrono::steady_clock::now() < until) std::this_thread::yield();
}

void lane::join() {
  come();
  open_.reset();
  for (auto& w : std::exchange(workers_, {})) w.join();
}

}  // namespace mcpbx::async

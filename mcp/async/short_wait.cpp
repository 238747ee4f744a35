// Keeps the thread awake by a handler that posts itself again: a context with work polls for events instead of waiting.
// It measures by the real clock, since the saved time is real and no result depends on it.
#include "mcp/async/short_wait.hpp"

#include <boost/asio/post.hpp>

#include <thread>
#include <utility>

namespace mcpbx::async {

struct short_wait::watch : std::enable_shared_from_this<watch> {
  explicit watch(const boost::asio::any_io_executor& e)
      : executor(e), until(std::chrono::steady_clock::now() + longest) {}

  void look_again() const {
    boost::asio::post(executor, [weak = weak_from_this()] {
      const auto self = weak.lock();
      if (!self || std::chrono::steady_clock::now() >= self->until) return;
      std::this_thread::yield();
      self->look_again();
    });
  }

  boost::asio::any_io_executor executor;
  std::chrono::steady_clock::time_point until;
};

short_wait::short_wait(boost::asio::any_io_executor executor) : executor_(std::move(executor)) {}

void short_wait::begin(time_point now, bool may_watch) {
  since_ = now;
  if (!may_watch || !was_short_) return;
  watch_ = std::make_shared<const watch>(executor_);
  watch_->look_again();
}

void short_wait::end(time_point now) {
  watch_.reset();
  was_short_ = now - since_ <= longest;
}

}  // namespace mcpbx::async

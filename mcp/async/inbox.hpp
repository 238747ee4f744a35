// The queue that a coroutine reads: many may push (on the speaking thread), one awaits. Cancelling a run is a message
// in its inbox, not an Asio cancellation, so that the core decides what is closed in which order.
#pragma once
#include <boost/asio/awaitable.hpp>
#include <boost/asio/redirect_error.hpp>
#include <boost/asio/steady_timer.hpp>
#include <boost/asio/this_coro.hpp>
#include <boost/asio/use_awaitable.hpp>

#include <deque>
#include <utility>

namespace mcpbx {

template <class T>
class inbox {
 public:
  explicit inbox(const boost::asio::any_io_executor& executor) : wake_(executor) {
    wake_.expires_at(boost::asio::steady_timer::time_point::max());
  }

  /// Adds an item and wakes the reader. Bounds are the pusher's duty: items stand for work that was admitted before.
  void push(T item) {
    items_.push_back(std::move(item));
    if (waiting_) wake_.cancel();
  }

  /// The next item, in order. One reader only. Terminal cancellation throws operation_aborted.
  boost::asio::awaitable<T> next() {
    while (items_.empty()) {
      waiting_ = true;
      boost::system::error_code ignored;
      co_await wake_.async_wait(boost::asio::redirect_error(boost::asio::use_awaitable, ignored));
      waiting_ = false;
      auto cancelled = co_await boost::asio::this_coro::cancellation_state;
      if (items_.empty() && cancelled.cancelled() != boost::asio::cancellation_type::none)
        throw boost::system::system_error(boost::asio::error::operation_aborted);
    }
    T item = std::move(items_.front());
    items_.pop_front();
    co_return item;
  }

  /// What is there and will not be read any more.
  std::deque<T> take_rest() { return std::exchange(items_, {}); }

  bool empty() const noexcept { return items_.empty(); }

 private:
  boost::asio::steady_timer wake_;
  std::deque<T> items_;
  bool waiting_ = false;
};

}  // namespace mcpbx

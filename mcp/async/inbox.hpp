// Queue that one coroutine awaits; many may push, all on the speaking thread. A run is cancelled by a message in its
// inbox, not by Asio's cancellation, so that its core decides about the order of the clean-up.
#pragma once
#include <boost/asio/awaitable.hpp>
#include <boost/asio/redirect_error.hpp>
#include <boost/asio/steady_timer.hpp>
#include <boost/asio/this_coro.hpp>
#include <boost/asio/use_awaitable.hpp>

#include <deque>
#include <utility>

namespace mcpbx::async {

template <class T>
class inbox {
 public:
  explicit inbox(const boost::asio::any_io_executor& executor) : wake_(executor) {
    wake_.expires_at(boost::asio::steady_timer::time_point::max());
  }

  /// Adds an item and wakes the reader. The pusher is responsible for bounds: items stand for work already admitted.
  void push(T item) {
    items_.push_back(std::move(item));
    if (waiting_) wake_.cancel();
  }

  /// Awaits the next item in order. Only one coroutine may wait. Terminal cancellation throws operation_aborted.
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

  /// Takes out the items that nobody will read any more.
  std::deque<T> take_rest() { return std::exchange(items_, {}); }

  bool empty() const noexcept { return items_.empty(); }

 private:
  boost::asio::steady_timer wake_;
  std::deque<T> items_;
  bool waiting_ = false;
};

}  // namespace mcpbx::async

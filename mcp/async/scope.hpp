// Structured concurrency: every coroutine belongs to a scope that can cancel and join it; nothing is detached and no
// exception is lost.
#pragma once
#include <boost/asio/any_io_executor.hpp>
#include <boost/asio/awaitable.hpp>

#include <cstddef>
#include <exception>
#include <functional>
#include <memory>
#include <string>
#include <string_view>

namespace mcpbx::async {

class scope {
 public:
  /// Receives an exception that left a coroutine (a bug or a failed start), with the coroutine's name.
  /// operation_aborted after cancel() is not reported.
  using failure_handler = std::function<void(std::string_view name, std::exception_ptr)>;

  explicit scope(boost::asio::any_io_executor executor, failure_handler on_failure = {});
  scope(const scope&) = delete;
  scope& operator=(const scope&) = delete;
  /// All coroutines must have been joined.
  ~scope();

  /// Starts `body()` soon on the executor. `body` is kept alive until the coroutine ends, so its captures are safe.
  void spawn(std::string name, std::function<boost::asio::awaitable<void>()> body);
  /// Sends terminal cancellation to every coroutine; later spawns are refused silently.
  void cancel();
  /// Returns when the last coroutine has ended.
  boost::asio::awaitable<void> join();
  std::size_t size() const noexcept;
  boost::asio::any_io_executor executor() const;

 private:
  struct state;
  std::shared_ptr<state> state_;
};

}  // namespace mcpbx::async

// Each wait is a loop around one queue of wake-ups, which timers, the queue for memory and the supervisor fill.
#include "daemon/loop/waits/first_waits.hpp"

#include "daemon/loop/run_words.hpp"
#include "mcp/async/inbox.hpp"

#include <string>
#include <utility>

namespace mcpbx::daemon::waits {

namespace asio = boost::asio;
namespace {

constexpr milliseconds settle_time{1'000};       // the first round waits this long for servers that are starting
constexpr milliseconds longest_farewell{5'000};  // a run waits this long for the end of the run before it

struct wake_up {};

}  // namespace

struct first_waits::state {
  explicit state(const asio::any_io_executor& executor) : wakes(executor) {}
  async::inbox<wake_up> wakes;
  bool interrupted = false;
};

first_waits::first_waits(const asio::any_io_executor& executor, time_source& time, limits::room_queue& room,
                         tools::tool_source& tools)
    : time_(time), room_(room), tools_(tools), state_(std::make_shared<state>(executor)) {}

first_waits::~first_waits() = default;

void first_waits::interrupt() {
  if (!std::exchange(state_->interrupted, true)) look_again();
}

void first_waits::look_again() {
  state_->wakes.push({});
}

std::function<void()> first_waits::wake_later() const {
  return [weak = std::weak_ptr(state_)] {
    if (const auto s = weak.lock()) s->wakes.push({});
  };
}

asio::awaitable<result<void>> first_waits::for_room(milliseconds most) {
  const auto place = room_.enter(wake_later());
  const auto until = time_.now() + most;
  const auto limit = time_.make_timer();
  limit->arm(until, wake_later());
  while (!place->is_called() && !state_->interrupted && time_.now() < until) co_await state_->wakes.next();
  if (state_->interrupted) co_return fail(errc::cancelled, "the run was cancelled before it began");
  if (!place->is_called()) co_return fail(errc::limit, std::string(loop::words::no_room));
  co_return result<void>();
}

asio::awaitable<bool> first_waits::for_session(std::function<bool()> is_over) {
  const auto until = time_.now() + longest_farewell;
  const auto limit = time_.make_timer();
  limit->arm(until, wake_later());
  while (!is_over() && time_.now() < until) co_await state_->wakes.next();
  co_return is_over();
}

asio::awaitable<void> first_waits::for_servers(std::function<bool()> misses_tools) {
  for (;;) {
    if (state_->interrupted) co_return;
    const auto since = time_.now();
    const auto settled = std::make_shared<bool>(false);
    tools_.when_settled(settle_time, [settled, wake = wake_later()] {
      *settled = true;
      wake();
    });
    while (!*settled && !state_->interrupted) co_await state_->wakes.next();
    // An end before settle_time means that no server is starting. Otherwise waits again, but not for ever: each server
    // has a time limit for its start.
    if (state_->interrupted || time_.now() - since < settle_time || !misses_tools()) co_return;
  }
}

}  // namespace mcpbx::daemon::waits

// A list of coroutines, each with its own cancellation signal, and a timer on which joiners wait.
#include "mcp/async/scope.hpp"

#include <boost/asio/bind_cancellation_slot.hpp>
#include <boost/asio/cancellation_signal.hpp>
#include <boost/asio/co_spawn.hpp>
#include <boost/asio/error.hpp>
#include <boost/asio/post.hpp>
#include <boost/asio/redirect_error.hpp>
#include <boost/asio/steady_timer.hpp>
#include <boost/asio/use_awaitable.hpp>
#include <boost/system/system_error.hpp>

#include <list>
#include <utility>
#include <vector>

namespace mcpbx::async {
namespace {

namespace asio = boost::asio;

bool is_cancellation(const std::exception_ptr& failure) {
  try {
    std::rethrow_exception(failure);
  } catch (const boost::system::system_error& e) {
    return e.code() == asio::error::operation_aborted;
  } catch (...) {
    return false;
  }
}

}  // namespace

struct scope::state {
  struct coroutine {
    std::string name;
    std::function<asio::awaitable<void>()> body;
    asio::cancellation_signal signal;
    bool started = false;
  };
  using entry = std::list<std::shared_ptr<coroutine>>::iterator;

  state(asio::any_io_executor ex, failure_handler handler) : executor(ex), on_failure(std::move(handler)), ended(ex) {
    ended.expires_at(asio::steady_timer::time_point::max());
  }

  static void start(const std::shared_ptr<state>& self, entry where) {
    if (self->cancelled) return self->finish(where, nullptr);
    const auto& c = *where;
    c->started = true;
    asio::co_spawn(
        self->executor, [c] { return c->body(); },
        asio::bind_cancellation_slot(
            c->signal.slot(), [self, where](std::exception_ptr failure) { self->finish(where, std::move(failure)); }));
  }

  void finish(entry where, std::exception_ptr failure) {
    auto ended_one = std::move(*where);
    running.erase(where);
    if (failure && on_failure && !(cancelled && is_cancellation(failure))) on_failure(ended_one->name, failure);
    if (running.empty()) ended.cancel();
  }

  asio::any_io_executor executor;
  failure_handler on_failure;
  std::list<std::shared_ptr<coroutine>> running;
  asio::steady_timer ended;
  bool cancelled = false;
};

scope::scope(asio::any_io_executor executor, failure_handler on_failure)
    : state_(std::make_shared<state>(std::move(executor), std::move(on_failure))) {}

scope::~scope() {
  // A coroutine that was not joined (the context ended first, or a bug) must at least not call its dead owner.
  state_->on_failure = nullptr;
  cancel();
}

void scope::spawn(std::string name, std::function<asio::awaitable<void>()> body) {
  if (state_->cancelled) return;
  auto one = std::make_shared<state::coroutine>();
  one->name = std::move(name);
  one->body = std::move(body);
  auto where = state_->running.insert(state_->running.end(), std::move(one));
  asio::post(state_->executor, [s = state_, where] { state::start(s, where); });
}

void scope::cancel() {
  if (state_->cancelled) return;
  state_->cancelled = true;
  // A copy: a coroutine may end while its signal is emitted.
  std::vector<std::shared_ptr<state::coroutine>> all(state_->running.begin(), state_->running.end());
  for (const auto& c : all)
    if (c->started) c->signal.emit(asio::cancellation_type::terminal);
}

asio::awaitable<void> scope::join() {
  auto s = state_;
  while (!s->running.empty()) {
    boost::system::error_code woken;
    co_await s->ended.async_wait(asio::redirect_error(asio::use_awaitable, woken));
  }
}

std::size_t scope::size() const noexcept {
  return state_->running.size();
}

asio::any_io_executor scope::executor() const {
  return state_->executor;
}

}  // namespace mcpbx::async

// Scopes: every coroutine is joined, cancelled when asked, and no exception is lost.
#include "mcp/async/scope.hpp"

#include "test/mcp/async/pump.hpp"

#include <boost/asio/co_spawn.hpp>
#include <boost/asio/detached.hpp>
#include <boost/asio/io_context.hpp>
#include <boost/asio/post.hpp>
#include <boost/asio/steady_timer.hpp>
#include <boost/asio/use_awaitable.hpp>
#include <doctest/doctest.h>

#include <memory>
#include <stdexcept>
#include <string>
#include <vector>

namespace asio = boost::asio;
using mcpbx::async::scope;
using namespace mcpbx::test;

namespace {

asio::awaitable<void> wait_for_ever() {
  asio::steady_timer t(co_await asio::this_coro::executor);
  t.expires_at(asio::steady_timer::time_point::max());
  co_await t.async_wait(asio::use_awaitable);
}

asio::awaitable<void> join(scope& s, bool& joined) {
  co_await s.join();
  joined = true;
}

struct failures {
  std::vector<std::string> texts;
  scope::failure_handler handler() {
    return [this](std::string_view name, std::exception_ptr e) {
      try {
        std::rethrow_exception(e);
      } catch (const std::exception& x) {
        texts.push_back(std::string(name) + ": " + x.what());
      }
    };
  }
};

}  // namespace

TEST_CASE("a scope runs its coroutines and join returns after the last one") {
  asio::io_context io(1);
  scope s(io.get_executor());
  int ran = 0;
  for (int i = 0; i < 3; ++i)
    s.spawn("one", [&]() -> asio::awaitable<void> {
      co_await asio::post(asio::use_awaitable);
      ++ran;
    });
  bool joined = false;
  asio::co_spawn(io, join(s, joined), asio::detached);
  CHECK(s.size() == 3);
  run_ready(io);
  CHECK(ran == 3);
  CHECK(joined);
  CHECK(s.size() == 0);
}

TEST_CASE("joining an empty scope returns at once") {
  asio::io_context io(1);
  scope s(io.get_executor());
  bool joined = false;
  asio::co_spawn(io, join(s, joined), asio::detached);
  run_ready(io);
  CHECK(joined);
}

TEST_CASE("spawn does not run the coroutine before it returns") {
  asio::io_context io(1);
  scope s(io.get_executor());
  bool ran = false, ran_inside = true;
  asio::post(io, [&] {
    s.spawn("one", [&]() -> asio::awaitable<void> {
      ran = true;
      co_return;
    });
    ran_inside = ran;
  });
  run_ready(io);
  CHECK(ran);
  CHECK_FALSE(ran_inside);
}

TEST_CASE("cancel ends every coroutine, is not reported, and refuses later ones") {
  asio::io_context io(1);
  failures seen;
  scope s(io.get_executor(), seen.handler());
  for (int i = 0; i < 10; ++i) s.spawn("waiter", wait_for_ever);
  run_ready(io);
  CHECK(s.size() == 10);
  s.spawn("not started yet", wait_for_ever);
  s.cancel();
  s.spawn("too late", wait_for_ever);
  bool joined = false;
  asio::co_spawn(io, join(s, joined), asio::detached);
  run_ready(io);
  CHECK(joined);
  CHECK(s.size() == 0);
  CHECK(seen.texts.empty());
}

TEST_CASE("an exception is reported with the name of its coroutine") {
  asio::io_context io(1);
  failures seen;
  scope s(io.get_executor(), seen.handler());
  s.spawn("broken", []() -> asio::awaitable<void> {
    co_await asio::post(asio::use_awaitable);
    throw std::runtime_error("a bug");
  });
  run_ready(io);
  CHECK(seen.texts == std::vector<std::string>{"broken: a bug"});
  CHECK(s.size() == 0);
}

TEST_CASE("an operation_aborted without a cancel is a failure like any other") {
  asio::io_context io(1);
  failures seen;
  scope s(io.get_executor(), seen.handler());
  s.spawn("aborted", []() -> asio::awaitable<void> {
    throw boost::system::system_error(asio::error::operation_aborted);
    co_return;
  });
  run_ready(io);
  CHECK(seen.texts.size() == 1);
}

TEST_CASE("a body and its captures live until the coroutine ends and not longer") {
  asio::io_context io(1);
  scope s(io.get_executor());
  auto token = std::make_shared<int>(7);
  const std::weak_ptr<int> watch = token;
  int seen = 0;
  s.spawn("holder", [token = std::move(token), &seen]() -> asio::awaitable<void> {
    co_await asio::post(asio::use_awaitable);
    seen = *token;
  });
  CHECK_FALSE(watch.expired());
  run_ready(io);
  CHECK(seen == 7);
  CHECK(watch.expired());
}

TEST_CASE("a coroutine may cancel its own scope") {
  asio::io_context io(1);
  scope s(io.get_executor());
  s.spawn("waiter", wait_for_ever);
  s.spawn("ender", [&]() -> asio::awaitable<void> {
    co_await asio::post(asio::use_awaitable);
    s.cancel();
  });
  run_ready(io);
  CHECK(s.size() == 0);
}

TEST_CASE("a scope that was not joined calls nobody after its end") {
  asio::io_context io(1);
  failures seen;
  {
    scope s(io.get_executor(), seen.handler());
    s.spawn("waiter", wait_for_ever);
    run_ready(io);
  }
  run_ready(io);
  CHECK(seen.texts.empty());
}

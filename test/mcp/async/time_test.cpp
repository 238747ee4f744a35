// Timers: the real ones, and the turned clock that the other tests rely on.
#include "mcp/async/system_time.hpp"
#include "test/mcp/async/pump.hpp"
#include "test/support/manual_time.hpp"

#include <boost/asio/io_context.hpp>
#include <boost/asio/post.hpp>
#include <doctest/doctest.h>

#include <vector>

namespace asio = boost::asio;
using namespace mcpbx;
using namespace mcpbx::async;
using namespace mcpbx::test;
using namespace std::chrono_literals;

TEST_CASE("a real timer fires once, from the executor") {
  asio::io_context io(1);
  system_time time(io.get_executor());
  auto t = time.make_timer();
  int fired = 0;
  t->arm(time.now() - 1s, [&] { ++fired; });
  CHECK(fired == 0);
  run_until(io, [&] { return fired > 0; });
  run_ready(io);
  CHECK(fired == 1);
}

TEST_CASE("arming again replaces the earlier call") {
  asio::io_context io(1);
  system_time time(io.get_executor());
  auto t = time.make_timer();
  int first = 0, second = 0;
  t->arm(time.now(), [&] { ++first; });
  t->arm(time.now(), [&] { ++second; });
  run_until(io, [&] { return second > 0; });
  run_ready(io);
  CHECK(first == 0);
  CHECK(second == 1);
}

TEST_CASE("a cancelled or destroyed real timer does not fire, even when it had expired") {
  asio::io_context io(1);
  system_time time(io.get_executor());
  auto a = time.make_timer();
  auto b = time.make_timer();
  auto c = time.make_timer();
  int fired = 0;
  b->arm(time.now() - 1s, [&] { ++fired; });
  c->arm(time.now() - 1s, [&] { ++fired; });
  a->arm(time.now() - 2s, [&] {
    b->cancel();
    c.reset();
  });
  run_until(io, [&] { return c == nullptr; });
  run_ready(io);
  CHECK(fired == 0);
}

TEST_CASE("a real timer may be destroyed by its own call") {
  asio::io_context io(1);
  system_time time(io.get_executor());
  auto t = time.make_timer();
  t->arm(time.now(), [&] { t.reset(); });
  run_until(io, [&] { return t == nullptr; });
  CHECK(t == nullptr);
}

TEST_CASE("a timer armed for the next event fires once, not inside arming it, and what was armed before is forgotten") {
  asio::io_context io(1);
  system_time real(io.get_executor());
  manual_time turned;
  const auto check = [](time_source& time, const auto& run) {
    auto t = time.make_timer();
    int earlier = 0, fired = 0;
    t->arm(time.now() - 1s, [&] { ++earlier; });
    t->arm_next([&] { ++fired; });
    CHECK(fired == 0);
    run();
    CHECK(earlier == 0);
    CHECK(fired == 1);

    t->arm_next([&] { ++fired; });
    t->arm(never, [] {});  // replaces it
    run();
    t->arm_next([&] { ++fired; });
    t->cancel();
    run();
    t->arm_next([&] { ++fired; });
    t.reset();
    run();
    CHECK(fired == 1);
  };
  check(real, [&] { run_ready(io); });
  check(turned, [&] { turned.advance(0ms); });
}

TEST_CASE("never is a moment that a timer can be armed for") {
  asio::io_context io(1);
  system_time time(io.get_executor());
  auto t = time.make_timer();
  bool fired = false, ran = false;
  t->arm(never, [&] { fired = true; });
  asio::post(io, [&] { ran = true; });
  run_ready(io);
  CHECK(ran);
  CHECK_FALSE(fired);
}

TEST_CASE("system randomness does not repeat itself") {
  system_random a, b;
  CHECK(a.next() != a.next());
  CHECK(a.next() != b.next());
}

TEST_CASE("the turned clock fires timers in order, at their moments") {
  manual_time time;
  const auto start = time.now();
  auto a = time.make_timer();
  auto b = time.make_timer();
  auto c = time.make_timer();
  std::vector<std::pair<char, milliseconds>> fired;
  auto note = [&](char name) {
    return [&fired, &time, start, name] {
      fired.emplace_back(name, std::chrono::duration_cast<milliseconds>(time.now() - start));
    };
  };
  a->arm(start + 30ms, note('a'));
  b->arm(start + 10ms, note('b'));
  c->arm(start + 99ms, note('c'));
  time.advance(50ms);
  CHECK(fired == std::vector<std::pair<char, milliseconds>>{{'b', 10ms}, {'a', 30ms}});
  CHECK(time.now() == start + 50ms);
  CHECK(time.armed() == 1);
  CHECK(time.next_due() == start + 99ms);
}

TEST_CASE("timers of the turned clock may be re-armed and destroyed in calls") {
  manual_time time;
  auto a = time.make_timer();
  auto b = time.make_timer();
  int ticks = 0;
  std::function<void()> tick = [&] {
    ++ticks;
    a->arm(time.now() + 10ms, tick);
  };
  a->arm(time.now() + 10ms, tick);
  b->arm(time.now() + 35ms, [&] { a.reset(); });
  time.advance(100ms);
  CHECK(ticks == 3);
  CHECK(time.armed() == 0);
}

TEST_CASE("counting randomness counts") {
  counting_random r(5, 2);
  CHECK(r.next() == 5);
  CHECK(r.next() == 7);
}

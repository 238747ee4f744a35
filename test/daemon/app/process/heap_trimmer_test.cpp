// Memory that goes back to the system, on a turned clock.
#include "daemon/app/process/heap_trimmer.hpp"

#include "test/support/manual_time.hpp"

#include <doctest/doctest.h>

using namespace mcpbx;
using namespace mcpbx::daemon::process;

TEST_CASE("G18: a second after a run free memory goes back, when it is worth it, and behind load down to the start") {
  mcpbx::test::manual_time time;
  std::int64_t overhead = 5 << 20, kept = 5 << 20;
  bool busy = false;
  int given = 0;
  heap_trimmer trimmer(time, {[&] { return overhead; }, [&] { return busy; },
                              [&] {
                                ++given;
                                overhead = kept;
                              }});
  const auto end = [&](std::int64_t now) {
    overhead = now;
    trimmer.run_ended();
    trimmer.run_ended();
    time.advance(milliseconds(999));
    const int before = given;
    time.advance(milliseconds(1));
    const int now_given = given - before;
    // Once more where there was something, for what callers still had to read.
    CHECK(time.armed() == static_cast<std::size_t>(now_given));
    time.advance(milliseconds(1'000));
    CHECK(time.armed() == 0);
    return now_given;
  };
  CHECK(end(7 << 20) == 0);
  CHECK(end(100 << 20) == 1);
  CHECK(overhead == 5 << 20);
  CHECK(end(12 << 20) == 0);
  CHECK(end(13 << 20) == 1);
  // Memory that stays under load is not looked for each second, and goes behind it.
  busy = true;
  kept = 80 << 20;
  CHECK(end(100 << 20) == 1);
  CHECK(end(87 << 20) == 0);
  busy = false;
  kept = 5 << 20;
  CHECK(end(87 << 20) == 1);
  CHECK(overhead == 5 << 20);
  CHECK(end(-1) == 0);
}

TEST_CASE("G18: memory that is free only when callers have read goes back a second after the rest") {
  mcpbx::test::manual_time time;
  std::int64_t overhead = 100 << 20;
  int given = 0;
  heap_trimmer trimmer(time, {[&] { return overhead; }, [] { return false; },
                              [&] {
                                ++given;
                                overhead = 5 << 20;
                              }});
  trimmer.run_ended();
  time.advance(milliseconds(1'000));
  overhead = 80 << 20;
  time.advance(milliseconds(1'000));
  CHECK(given == 2);
  time.advance(milliseconds(1'000));
  CHECK(time.armed() == 0);
}

TEST_CASE("G18: memory that was in use at the last look goes back at the next one, though it has hardly grown") {
  mcpbx::test::manual_time time;
  std::int64_t overhead = 200 << 20, kept = 105 << 20;
  heap_trimmer trimmer(time, {[&] { return overhead; }, [] { return false; }, [&] { overhead = kept; }});
  trimmer.run_ended();
  time.advance(milliseconds(1'000));
  CHECK(overhead == 105 << 20);
  overhead = 106 << 20;
  kept = 5 << 20;
  time.advance(milliseconds(1'000));
  CHECK(overhead == 5 << 20);
  time.advance(milliseconds(1'000));
  CHECK(time.armed() == 0);
}

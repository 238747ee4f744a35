// The queue of runs that wait for memory, on a manual clock.
#include "daemon/loop/limits/room_queue.hpp"

#include "test/support/manual_time.hpp"

#include <doctest/doctest.h>

#include <functional>
#include <memory>
#include <string>
#include <utility>

namespace mcpbx::daemon::room_queue_test {

struct fixture {
  fixture() { byte_account::set_limit(byte_account::total() + (4u << 20)); }
  ~fixture() { byte_account::set_limit(limit); }
  fixture(const fixture&) = delete;
  fixture& operator=(const fixture&) = delete;

  void fill() { held.set(8u << 20); }
  void free() { held.set(0); }
  std::unique_ptr<limits::room_queue::place> come(std::string name, std::function<void()> then = [] {}) {
    return queue.enter([this, name = std::move(name), then = std::move(then)] {
      called += name;
      then();
    });
  }
  void turn() { time.advance(milliseconds(0)); }

  std::size_t limit = byte_account::limit();
  mcpbx::test::manual_time time;
  limits::room_queue queue{time};
  byte_share held;
  std::string called;
};

TEST_CASE_FIXTURE(fixture, "who waits for room is called in order, and who takes the room leaves none for the next") {
  CHECK_FALSE(queue.is_short());
  fill();
  CHECK(queue.is_short());
  const auto a = come("a", [this] { fill(); });
  auto b = come("b");
  const auto c = come("c"), d = come("d");
  turn();
  CHECK(called.empty());
  CHECK(time.armed() == 0);  // no timer polls for room
  free();
  CHECK(called.empty());  // called in the next turn, not inside free()
  CHECK(queue.is_short());
  turn();
  CHECK(called == "a");
  CHECK(a->is_called());
  CHECK_FALSE(b->is_called());
  b.reset();
  free();
  turn();
  CHECK(called == "acd");
  CHECK_FALSE(queue.is_short());
}

TEST_CASE_FIXTURE(fixture, "room that is gone again when the turn comes is waited for again") {
  fill();
  const auto a = come("a");
  free();
  fill();
  turn();
  CHECK(called.empty());
  free();
  turn();
  CHECK(called == "a");
}

TEST_CASE_FIXTURE(fixture, "who comes when there is room, behind others, waits for its turn") {
  fill();
  auto a = come("a");
  free();
  const auto b = come("b");
  turn();
  CHECK(called == "ab");
}

TEST_CASE_FIXTURE(fixture, "a queue that everybody has left is told nothing, and begins anew") {
  fill();
  auto a = come("a");
  a.reset();
  free();
  CHECK(time.armed() == 0);
  fill();
  a = come("a");
  free();
  a.reset();
  CHECK(time.armed() == 0);
  CHECK_FALSE(queue.is_short());
  fill();
  a = come("a");
  free();
  turn();
  CHECK(called == "a");
}

TEST_CASE_FIXTURE(fixture, "several queues of a thread are told of the same room") {
  limits::room_queue other(time);
  std::string others;
  fill();
  const auto a = come("a");
  const auto b = other.enter([&] { others = "b"; });
  free();
  turn();
  CHECK(called == "a");
  CHECK(others == "b");
}

}  // namespace mcpbx::daemon::room_queue_test

// Work that hangs holds up only work of its own key.
#include "mcp/async/keyed_lanes.hpp"

#include "test/mcp/async/pump.hpp"
#include "test/support/no_threads.hpp"

#include <boost/asio/executor_work_guard.hpp>
#include <boost/asio/io_context.hpp>
#include <doctest/doctest.h>

#include <atomic>
#include <filesystem>
#include <functional>
#include <future>
#include <iterator>
#include <stdexcept>
#include <string>
#include <thread>

namespace asio = boost::asio;
using namespace mcpbx;
using namespace mcpbx::async;
using namespace mcpbx::test;

namespace {

struct fixture {
  asio::io_context io{1};
  asio::executor_work_guard<asio::io_context::executor_type> guard = asio::make_work_guard(io);
  std::promise<void> let_go;
  std::shared_future<void> held = let_go.get_future().share();
  // Returns work that hangs until let_go is set.
  std::function<void()> hanging() {
    return [held = held] { held.wait(); };
  }
};

}  // namespace

TEST_CASE("keyed lanes: work of a key that hangs holds up that key alone") {
  fixture f;
  keyed_lanes lanes(f.io.get_executor(), "test", {.threads = 8});
  std::atomic<int> same = 0, others = 0;
  for (const char* key : {"a", "b", "c", "d"}) {
    REQUIRE(lanes.post(key, f.hanging()));
    REQUIRE(lanes.post(key, [&] { ++same; }));
  }
  for (int i = 0; i < 50; ++i) REQUIRE(lanes.post("host " + std::to_string(i), [&] { ++others; }));
  run_until(f.io, [&] { return others == 50; });
  CHECK(same == 0);
  run_until(f.io, [&] { return lanes.busy() == 4; });
  f.let_go.set_value();
  run_until(f.io, [&] { return same == 4 && lanes.busy() == 0; });
}

TEST_CASE("keyed lanes: work of one key runs in its order and never side by side") {
  fixture f;
  keyed_lanes lanes(f.io.get_executor(), "test");
  std::atomic<int> at_work = 0, together = 0;
  std::string order;
  for (const char c : std::string("abcdefgh"))
    REQUIRE(lanes.post("key", [&, c] {
      if (++at_work > 1) ++together;
      order += c;
      --at_work;
    }));
  run_until(f.io, [&] { return lanes.busy() == 0; });
  CHECK(order == "abcdefgh");
  CHECK(together == 0);
}

TEST_CASE("keyed lanes: more keys than threads wait for one that is done, and the bound on what waits is told") {
  fixture f;
  keyed_lanes lanes(f.io.get_executor(), "test", {.threads = 2, .waiting = 3});
  std::atomic<int> ran = 0;
  REQUIRE(lanes.post("a", f.hanging()));
  REQUIRE(lanes.post("b", f.hanging()));
  for (int i = 0; i < 3; ++i) REQUIRE(lanes.post("a", [&] { ++ran; }));
  const auto refused = lanes.post("a", [&] { ++ran; });
  REQUIRE_FALSE(refused);
  CHECK(refused.error().code == errc::limit);
  CHECK(refused.error().message.find("test") != std::string::npos);
  for (int i = 0; i < 9; ++i) REQUIRE(lanes.post("k" + std::to_string(i), [&] { ++ran; }));
  CHECK_FALSE(lanes.post("one more", [&] { ++ran; }));
  run_ready(f.io);
  CHECK(ran == 0);
  CHECK(lanes.busy() == 2);
  f.let_go.set_value();
  run_until(f.io, [&] { return ran == 12 && lanes.busy() == 0; });
  CHECK(lanes.post("one more", [&] { ++ran; }));
  run_until(f.io, [&] { return ran == 13; });
}

TEST_CASE("keyed lanes: an exception ends that work only, and a thread that cannot be started is said") {
  fixture f;
  keyed_lanes lanes(f.io.get_executor(), "test");
  std::atomic<int> ran = 0;
  {
    const no_threads none;
    const auto refused = lanes.post("a", [&] { ++ran; });
    REQUIRE_FALSE(refused);
    CHECK(refused.error().code == errc::unavailable);
  }
  REQUIRE(lanes.post("a", [] { throw std::runtime_error("lost"); }));
  REQUIRE(lanes.post("a", [&] { ++ran; }));
  run_until(f.io, [&] { return ran == 1 && lanes.busy() == 0; });
  lanes.join();
  REQUIRE(lanes.post("a", [&] { ++ran; }));
  run_until(f.io, [&] { return ran == 2; });
}

TEST_CASE("keyed lanes: threads end when nothing is left for them, but for one") {
  const auto threads = [] {
    return std::distance(std::filesystem::directory_iterator("/proc/self/task"), std::filesystem::directory_iterator());
  };
  std::thread([] {}).join();  // some sanitizers begin a thread of their own with the first
  const auto before = threads();
  fixture f;
  keyed_lanes lanes(f.io.get_executor(), "test");
  CHECK(threads() == before);
  for (int i = 0; i < 10; ++i) REQUIRE(lanes.post(std::to_string(i), f.hanging()));
  CHECK(threads() == before + 10);
  f.let_go.set_value();
  run_until(f.io, [&] { return lanes.busy() == 0; });
  CHECK(threads() == before + 1);
}

TEST_CASE("keyed lanes: they may go while work waits and while it runs") {
  fixture f;
  std::atomic<int> ran = 0;
  {
    keyed_lanes lanes(f.io.get_executor(), "test", {.threads = 1});
    REQUIRE(lanes.post("a", f.hanging()));
    REQUIRE(lanes.post("a", [&] { ++ran; }));
    REQUIRE(lanes.post("b", [&] { ++ran; }));
    f.let_go.set_value();
  }
  run_ready(f.io);
  CHECK(ran == 0);
}

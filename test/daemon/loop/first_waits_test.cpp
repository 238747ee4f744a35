// The waits of a run before its first round, on a turned clock.
#include "daemon/loop/waits/first_waits.hpp"

#include "test/mcp/async/pump.hpp"
#include "test/support/manual_time.hpp"

#include <boost/asio/co_spawn.hpp>
#include <boost/asio/io_context.hpp>
#include <doctest/doctest.h>

#include <exception>
#include <memory>
#include <optional>
#include <utility>

namespace first_waits_of_runs {

using namespace mcpbx;
using namespace mcpbx::daemon::limits;
using namespace mcpbx::daemon::tools;
using namespace mcpbx::daemon::waits;
using namespace mcpbx::test;

struct starting_servers final : tool_source {
  mcp::catalogs::catalog_ptr snapshot() const override { return nullptr; }
  void when_settled(milliseconds, std::function<void()> then) override {
    ++asked;
    settled = std::move(then);
  }
  int asked = 0;
  std::function<void()> settled;
};

struct rig {
  boost::asio::io_context io;
  manual_time time;
  room_queue room{time};
  starting_servers servers;
  first_waits waits{io.get_executor(), time, room, servers};

  /// Starts a wait. The returned value is set when it is over.
  template <class T>
  std::shared_ptr<std::optional<T>> start(boost::asio::awaitable<T> wait) {
    auto over = std::make_shared<std::optional<T>>();
    boost::asio::co_spawn(io, std::move(wait), [over](const std::exception_ptr& fault, T value) {
      if (fault) std::rethrow_exception(fault);
      over->emplace(std::move(value));
    });
    run_ready(io);
    return over;
  }
  std::shared_ptr<bool> start(boost::asio::awaitable<void> wait) {
    auto over = std::make_shared<bool>(false);
    boost::asio::co_spawn(io, std::move(wait), [over](const std::exception_ptr& fault) {
      if (fault) std::rethrow_exception(fault);
      *over = true;
    });
    run_ready(io);
    return over;
  }
  void pass(int ms) {
    time.advance(milliseconds(ms));
    run_ready(io);
  }
};

struct memory_is_short {
  memory_is_short() {
    byte_account::set_limit(byte_account::total() + (4u << 20));
    held.set(8u << 20);
  }
  ~memory_is_short() { byte_account::set_limit(limit); }
  memory_is_short(const memory_is_short&) = delete;
  memory_is_short& operator=(const memory_is_short&) = delete;
  std::size_t limit = byte_account::limit();
  byte_share held;
};

TEST_CASE("a wait for servers goes on while tools are missing, and a wish to end the run ends it") {
  rig r;
  const auto over = r.start(r.waits.for_servers([] { return true; }));
  REQUIRE(r.servers.asked == 1);
  r.time.advance(milliseconds(1'000));
  r.servers.settled();
  run_ready(r.io);
  CHECK(r.servers.asked == 2);
  CHECK_FALSE(*over);
  r.waits.interrupt();
  run_ready(r.io);
  CHECK(*over);

  SUBCASE("a later wait is over at once") {
    CHECK(*r.start(r.waits.for_servers([] { return true; })));
    CHECK(r.servers.asked == 2);
  }
}

TEST_CASE("a wait for servers ends as soon as none is starting, though tools are missing") {
  rig r;
  const auto over = r.start(r.waits.for_servers([] { return true; }));
  r.time.advance(milliseconds(999));
  r.servers.settled();
  run_ready(r.io);
  CHECK(*over);
}

TEST_CASE("a wait for the run before looks again when it is told to, and gives up after 5 s") {
  rig r;
  bool is_over = false;
  const auto ended = r.start(r.waits.for_session([&] { return is_over; }));
  r.waits.look_again();
  run_ready(r.io);
  CHECK_FALSE(ended->has_value());
  is_over = true;
  r.waits.look_again();
  run_ready(r.io);
  CHECK(ended->value());

  is_over = false;
  const auto given_up = r.start(r.waits.for_session([&] { return is_over; }));
  r.pass(4'999);
  CHECK_FALSE(given_up->has_value());
  r.pass(1);
  CHECK_FALSE(given_up->value());
}

TEST_CASE("a wait for memory that comes to its limit fails, and so does one that is interrupted") {
  rig r;
  const memory_is_short scarce;
  REQUIRE(r.room.is_short());
  const auto late = r.start(r.waits.for_room(milliseconds(30'000)));
  r.pass(30'000);
  REQUIRE(late->has_value());
  CHECK(late->value().error().code == errc::limit);

  const auto unwanted = r.start(r.waits.for_room(milliseconds(30'000)));
  r.waits.interrupt();
  run_ready(r.io);
  REQUIRE(unwanted->has_value());
  CHECK(unwanted->value().error().code == errc::cancelled);
}

TEST_CASE("a timer and a supervisor may outlive the run that waited") {
  boost::asio::io_context io;
  manual_time time;
  room_queue room(time);
  starting_servers servers;
  std::optional<first_waits> waits(std::in_place, io.get_executor(), time, room, servers);
  boost::asio::co_spawn(io, waits->for_servers([] { return false; }), [](const std::exception_ptr&) {});
  run_ready(io);
  waits->interrupt();
  run_ready(io);
  waits.reset();
  servers.settled();
  run_ready(io);
  CHECK(servers.asked == 1);
}

}  // namespace first_waits_of_runs

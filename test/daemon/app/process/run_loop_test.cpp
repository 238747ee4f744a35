// Tests of exceptions that escape a handler on the main thread.
#include "daemon/app/process/run_loop.hpp"

#include "mcp/support/log.hpp"

#include <boost/asio/post.hpp>
#include <doctest/doctest.h>

#include <functional>
#include <stdexcept>
#include <string>
#include <string_view>
#include <vector>

namespace run_loop_boundary {

namespace asio = boost::asio;
using namespace mcpbx;
using namespace mcpbx::daemon::process;

struct logged {
  std::vector<std::string> lines;
  logged() {
    log::install(log::level::error, [this](log::level, std::string_view line) { lines.emplace_back(line); });
  }
  ~logged() { log::install(log::level::off, {}); }
};

TEST_CASE("an exception that escapes a handler is logged, and the loop goes on for a stop in order") {
  const logged log;
  asio::io_context io;
  std::string order;
  bool inside = false;
  asio::post(io, [&] { order += "a"; });
  asio::post(io, [&] {
    inside = true;
    struct leave {
      bool& inside;
      ~leave() { inside = false; }
    } const at_end{inside};
    throw std::runtime_error("the fault");
  });
  asio::post(io, [&] { order += "b"; });
  const int bugs = run_loop(io, [&] {
    CHECK_FALSE(inside);
    order += "s";
    asio::post(io, [&] { order += "e"; });
  });
  CHECK(bugs == 1);
  CHECK(order == "asbe");
  REQUIRE(log.lines.size() == 1);
  CHECK(log.lines[0] == "an internal error, please report it: the fault");
}

TEST_CASE("a loop without a fault tells of none, and what is no std::exception is a fault too") {
  const logged log;
  asio::io_context io;
  int stops = 0;
  CHECK(run_loop(io, [&] { ++stops; }) == 0);
  CHECK(stops == 0);
  io.restart();
  asio::post(io, [] { throw 7; });
  CHECK(run_loop(io, [&] { ++stops; }) == 1);
  CHECK(stops == 1);
  REQUIRE(log.lines.size() == 1);
  CHECK(log.lines[0] == "an internal error, please report it: an unknown exception");
}

TEST_CASE("a stop that does not get on for faults is given up, so that the daemon ends") {
  const logged log;
  asio::io_context io;
  std::function<void()> again = [&] {
    asio::post(io, again);
    throw std::runtime_error("again");
  };
  asio::post(io, again);
  int stops = 0;
  CHECK(run_loop(io, [&] { ++stops; }) == most_bugs);
  CHECK(stops == most_bugs - 1);
  CHECK(log.lines.size() == most_bugs);
}

}  // namespace run_loop_boundary

// Short waits: spent awake where the last one was short, and never for ever.
#include "mcp/async/short_wait.hpp"

#include "test/mcp/async/pump.hpp"

#include <boost/asio/io_context.hpp>
#include <doctest/doctest.h>

#include <memory>

namespace asio = boost::asio;
using namespace mcpbx;
using namespace mcpbx::async;
using namespace mcpbx::test;
using std::chrono::microseconds;

namespace {

bool has_work(asio::io_context& io) {
  io.restart();
  return io.poll_one() > 0;
}

}  // namespace

TEST_CASE("a short wait is spent awake behind a short one, and asleep behind a long one") {
  asio::io_context io(1);
  short_wait wait(io.get_executor());
  const time_point now{};

  wait.begin(now, true);
  CHECK_FALSE(has_work(io));
  wait.end(now + short_wait::longest);
  CHECK(wait.was_short());

  wait.begin(now, true);
  CHECK(has_work(io));
  wait.end(now + short_wait::longest + microseconds(1));
  CHECK_FALSE(wait.was_short());
  run_ready(io);

  wait.begin(now, true);
  CHECK_FALSE(has_work(io));
  wait.end(now);

  wait.begin(now, false);
  CHECK_FALSE(has_work(io));
  wait.end(now);
  CHECK(wait.was_short());
}

TEST_CASE("a wait is watched for no longer than a short one lasts, than it goes on, or than its owner lives") {
  asio::io_context io(1);
  auto wait = std::make_unique<short_wait>(io.get_executor());
  wait->end(time_point{});
  const auto begin = [&] {
    io.restart();
    wait->begin(time_point{}, true);
  };

  begin();
  io.run();  // comes back, since nothing posts itself for ever
  CHECK(wait->was_short());

  begin();
  wait->end(time_point{});
  CHECK(io.poll_one() == 1);  // the look that was on its way
  CHECK(io.poll_one() == 0);

  begin();
  wait.reset();
  CHECK(io.poll_one() == 1);
  CHECK(io.poll_one() == 0);
}

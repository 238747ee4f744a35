// The inbox: order, waking, cancellation.
#include "mcp/async/inbox.hpp"

#include "mcp/async/scope.hpp"
#include "test/mcp/async/pump.hpp"

#include <boost/asio/io_context.hpp>
#include <doctest/doctest.h>

#include <memory>
#include <vector>

namespace asio = boost::asio;
using namespace mcpbx;
using namespace mcpbx::async;
using namespace mcpbx::test;

namespace {

asio::awaitable<void> read_all(inbox<int>& in, std::vector<int>& out) {
  for (;;) out.push_back(co_await in.next());
}

}  // namespace

TEST_CASE("an inbox hands out what was pushed before and during the wait in order") {
  asio::io_context io(1);
  inbox<int> in(io.get_executor());
  in.push(1);
  in.push(2);
  std::vector<int> got;
  scope s(io.get_executor());
  s.spawn("reader", [&] { return read_all(in, got); });
  run_ready(io);
  CHECK(got == std::vector<int>{1, 2});
  in.push(3);
  in.push(4);
  run_ready(io);
  CHECK(got == std::vector<int>{1, 2, 3, 4});
  CHECK(in.empty());
  s.cancel();
  run_ready(io);
  CHECK(s.size() == 0);
}

TEST_CASE("a cancelled reader of an inbox ends and leaves the items") {
  asio::io_context io(1);
  inbox<int> in(io.get_executor());
  std::vector<int> got;
  scope s(io.get_executor());
  s.spawn("reader", [&] { return read_all(in, got); });
  run_ready(io);
  s.cancel();
  run_ready(io);
  CHECK(s.size() == 0);
  in.push(1);
  CHECK_FALSE(in.empty());
}

TEST_CASE("an inbox carries what can only be moved") {
  asio::io_context io(1);
  inbox<std::unique_ptr<int>> in(io.get_executor());
  in.push(std::make_unique<int>(5));
  int got = 0;
  scope s(io.get_executor());
  s.spawn("reader", [&]() -> asio::awaitable<void> {
    const auto p = co_await in.next();
    got = *p;
  });
  run_ready(io);
  CHECK(got == 5);
}

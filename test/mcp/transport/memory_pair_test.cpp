// Tests that the memory pair keeps the rules of the real transports.
#include "mcp/transport/memory_pair.hpp"

#include "test/mcp/async/pump.hpp"
#include "test/support/transport_recorder.hpp"

#include <boost/asio/io_context.hpp>
#include <doctest/doctest.h>

#include <string>

namespace asio = boost::asio;
using namespace mcpbx;
using namespace mcpbx::mcp::rpc;
using namespace mcpbx::mcp::transports;
using namespace mcpbx::test;

namespace {

struct pair_fixture {
  asio::io_context io{1};
  recorder seen_a, seen_b;
  std::unique_ptr<transport> a, b;
  pair_fixture() { std::tie(a, b) = make_memory_pair(io.get_executor()); }
  void start() {
    a->start(seen_a);
    b->start(seen_b);
  }
};

}  // namespace

TEST_CASE("a memory pair carries messages both ways, in order, from the queue only") {
  pair_fixture f;
  f.start();
  for (int i = 0; i < 10; ++i)
    f.a->send(as_segments(R"({"jsonrpc":"2.0","id":)" + std::to_string(i) + R"(,"method":"m"})"), {});
  f.b->send(as_segments(ping), {});
  CHECK(f.seen_b.messages.empty());
  CHECK(f.a->unsent() > 0);
  run_ready(f.io);
  REQUIRE(f.seen_b.messages.size() == 10);
  CHECK(f.seen_b.messages[9].find("\"id\":9") != std::string::npos);
  CHECK(f.seen_a.messages.size() == 1);
  CHECK(f.a->unsent() == 0);
  CHECK(f.seen_a.drained == 1);
}

TEST_CASE("a memory pair checks messages like every transport") {
  pair_fixture f;
  f.start();
  f.a->send(as_segments("hello"), {});
  f.a->send(as_segments(R"({"jsonrpc":"2.0","method":)"), {});
  run_ready(f.io);
  CHECK(f.seen_b.faults.size() == 2);
  CHECK(f.seen_b.closings == 0);
}

TEST_CASE("what was sent before the other end started waits for it") {
  pair_fixture f;
  f.a->send(as_segments(ping), {});
  run_ready(f.io);
  CHECK(f.a->unsent() > 0);
  f.start();
  run_ready(f.io);
  CHECK(f.seen_b.messages.size() == 1);
}

TEST_CASE("a paused end slows its peer down") {
  pair_fixture f;
  f.start();
  f.b->pause_reading(true);
  f.a->send(as_segments(ping), {});
  run_ready(f.io);
  CHECK(f.seen_b.messages.empty());
  CHECK(f.a->unsent() > 0);
  f.b->pause_reading(false);
  run_ready(f.io);
  CHECK(f.seen_b.messages.size() == 1);
}

TEST_CASE("closing one end of a memory pair tells the other once and drops what was under way") {
  pair_fixture f;
  f.start();
  f.a->send(as_segments(ping), {});
  f.a->close();
  CHECK(f.seen_b.closings == 0);
  run_ready(f.io);
  CHECK(f.seen_b.closings == 1);
  CHECK(f.seen_b.closed->code == errc::unavailable);
  CHECK(f.seen_b.messages.empty());
  CHECK(f.seen_a.closings == 0);
  f.b->send(as_segments(ping), {});
  run_ready(f.io);
  CHECK(f.seen_a.messages.empty());
}

TEST_CASE("finish_sending ends the stream behind the last message and leaves the way back open") {
  pair_fixture f;
  f.start();
  f.a->send(as_segments(ping), {});
  f.a->finish_sending();
  run_ready(f.io);
  CHECK(f.seen_b.messages.size() == 1);
  CHECK(f.seen_b.closings == 1);
  f.b->send(as_segments(ping), {});
  run_ready(f.io);
  CHECK(f.seen_a.messages.size() == 1);
  CHECK(f.seen_a.closings == 0);
}

TEST_CASE("an end of a memory pair may be destroyed in a callback") {
  pair_fixture f;
  f.start();
  f.seen_b.on_each = [&](const message&) { f.b.reset(); };
  for (int i = 0; i < 3; ++i) f.a->send(as_segments(ping), {});
  run_ready(f.io);
  CHECK(f.seen_b.messages.size() == 1);
  CHECK(f.seen_a.closings == 1);
}

// Callers that do not read, or send very many requests: they are closed or wait their turn, and others are served.
#include "mcp/transport/memory_pair.hpp"
#include "test/daemon/front/door_fixture.hpp"
#include "test/mcp/server/fake_host.hpp"

#include <doctest/doctest.h>

#include <memory>
#include <string>
#include <utility>
#include <vector>

namespace front_doors {

using namespace mcpbx::daemon::front;
using namespace mcpbx::daemon::run;

TEST_CASE("G17: a caller that does not read is not read and is closed after 30 s") {
  auto o = door_fixture::make_options();
  o.outbox.bound = 100'000;
  door_fixture f(o);
  auto& caller = f.enter();
  auto& neighbour = f.enter();
  caller.reads = false;
  for (int i = 0; i < 2000; ++i) caller.say(request(i, "no/such/method/" + std::string(200, 'm')));
  f.run();
  CHECK(caller.paused);
  CHECK(f.ask(neighbour, request(1, "ping")) == R"({"jsonrpc":"2.0","id":1,"result":{}})");
  f.time.advance(milliseconds(30'000));
  f.run();
  CHECK(caller.closed);
  CHECK(f.door.callers() == 1);
}

TEST_CASE("G18: when more bytes are owned than may be, a caller that has read nothing for 5 s is closed") {
  door_fixture f;
  auto& slow = f.enter();
  auto& neighbour = f.enter();
  slow.reads = false;
  f.ask(slow, request(1, "mcpbx/chat", R"({"input":"go"})"));
  segments large;
  large.append_copy(R"({"type":"tool_result","content":")" + std::string(2u << 20, 'x') + "\"}");
  const std::size_t limit = byte_account::limit();
  byte_account::set_limit(byte_account::total());
  for (int i = 0; i < 2; ++i) f.backend.feeds.at("run-1")->push({run_event::kind::tool_result, "", "", large});
  f.backend.feeds.at("run-1")->push({run_event::kind::text, "", "more", {}});
  f.run();
  f.time.advance(milliseconds(4'999));
  f.run();
  CHECK_FALSE(slow.closed);
  f.time.advance(milliseconds(1));
  f.run();
  byte_account::set_limit(limit);
  CHECK(slow.closed);
  CHECK_FALSE(neighbour.closed);
  CHECK(f.door.callers() == 1);
  CHECK(f.ask(neighbour, request(1, "ping")) == R"({"jsonrpc":"2.0","id":1,"result":{}})");
}

TEST_CASE("G18: a read of very many requests is answered in turns, in order, and others are answered in between") {
  door_fixture f;
  auto& flood = f.enter();
  auto& neighbour = f.enter();
  std::string read;
  for (int i = 0; i < 1000; ++i) read += request(i, "ping") + "\n";
  flood.framer.feed(read, *flood.events);
  CHECK(flood.paused);
  neighbour.say(request(1, "ping"));
  f.io.restart();
  while (neighbour.sent.empty()) REQUIRE(f.io.poll_one() == 1);
  CHECK(flood.sent.size() < 600);
  f.run();
  CHECK_FALSE(flood.paused);
  REQUIRE(flood.sent.size() == 1000);
  for (int i = 0; i < 1000; ++i) CHECK(id_of(flood.sent[static_cast<std::size_t>(i)]) == std::to_string(i));
}

TEST_CASE("G18: requests that take long give their turn away after each, also those that waited for the servers") {
  door_fixture f;
  auto& flood = f.enter();
  auto& neighbour = f.enter();
  f.ask(flood, request(1, "initialize", R"({"protocolVersion":"2025-11-25"})"));
  std::string read;
  for (int i = 2; i < 12; ++i) read += request(i, "tools/call", R"({"name":"none"})") + "\n";
  flood.framer.feed(read, *flood.events);
  f.run();
  // Each of them takes longer than a turn.
  f.backend.called = [&] { f.time.advance(turns::longest); };
  const auto settled = std::exchange(f.backend.waiting, {});
  REQUIRE(settled.size() == 10);
  for (const auto& then : settled) then();
  neighbour.say(request(1, "ping"));
  f.io.restart();
  while (neighbour.sent.empty()) REQUIRE(f.io.poll_one() == 1);
  CHECK(flood.sent.size() <= 1 + 2);
  f.run();
  REQUIRE(flood.sent.size() == 1 + 10);
  for (int i = 2; i < 12; ++i) CHECK(id_of(flood.sent[static_cast<std::size_t>(i - 1)]) == std::to_string(i));
}

TEST_CASE("E1: a caller that has said its last is answered all that waits for a turn, and one that left nothing") {
  door_fixture f;
  auto& leaves = f.enter();
  auto& gone = f.enter();
  std::string read;
  for (int i = 0; i < 1000; ++i) read += request(i, "ping") + "\n";
  leaves.framer.feed(read, *leaves.events);
  CHECK(leaves.events->on_input_end());
  gone.framer.feed(read, *gone.events);
  gone.events->on_closed({errc::unavailable, "left"});
  f.run();
  CHECK(leaves.sent.size() == 1000);
  CHECK(gone.sent.size() < 1000);
  CHECK(leaves.closed);
}

TEST_CASE("G18: a thousand callers are served and one with ten thousand requests does not keep another waiting") {
  auto o = door_fixture::make_options();
  door_fixture f(o);
  struct end final : mcp::transports::transport_events {
    void on_message(mcp::rpc::message&& m) override {
      if (!m.error.empty()) ++errors;
      ++answers;
    }
    void on_fault(mcp::rpc::message_fault) override { ++errors; }
    void on_closed(const error&) override {}
    int answers = 0, errors = 0;
  };
  std::vector<std::unique_ptr<mcp::transports::transport>> ends;
  std::vector<std::unique_ptr<end>> sinks;
  for (int i = 0; i < 1000; ++i) {
    auto [mine, theirs] = mcp::transports::make_memory_pair(f.io.get_executor());
    f.door.accept(std::move(theirs), {1000, 1});
    sinks.push_back(std::make_unique<end>());
    mine->start(*sinks.back());
    ends.push_back(std::move(mine));
  }
  const auto say = [&](std::size_t i, int id) {
    segments s;
    s.append_copy(request(id, "mcpbx/chat", R"({"input":"go"})"));
    ends[i]->send(s, mcp::rpc::outgoing::request(id));
  };
  for (int id = 0; id < 10'000; ++id) say(0, id);
  for (std::size_t i = 1; i < ends.size(); ++i) {
    segments s;
    s.append_copy(request(1, "ping"));
    ends[i]->send(s, mcp::rpc::outgoing::request(1));
  }
  f.run();
  int answered = 0;
  for (std::size_t i = 1; i < ends.size(); ++i) answered += sinks[i]->answers == 1 && sinks[i]->errors == 0;
  CHECK(answered == 999);
  // Of the ten thousand only what one caller may have going was begun; the rest was refused at once.
  CHECK(f.backend.started.size() == 64);
  CHECK(sinks[0]->answers == 10'000 - 64);
  ends.clear();
  f.run();
  CHECK(f.door.callers() == 0);
}

}  // namespace front_doors

// The outbox's rules on a turned clock: what joins, what is replaced, what drops, what never does, and when it is over.
#include "daemon/front/outgoing_queue.hpp"

#include "mcp/support/shared_bytes.hpp"
#include "test/daemon/front/fake_transport.hpp"
#include "test/support/manual_time.hpp"

#include <doctest/doctest.h>

#include <memory>
#include <string>
#include <vector>

using namespace mcpbx;
using namespace mcpbx::daemon;
using test::fake_transport;

namespace {

segments text(std::string_view t) {
  segments s;
  s.append_copy(t);
  return s;
}

run_event delta(std::string_view t, run_event::kind k = run_event::kind::text) {
  return {k, "", std::string(t), {}};
}

run_event event(run_event::kind k, std::string_view body, std::string call = "") {
  return {k, std::move(call), "", text(body)};
}

struct fixture final : outgoing_queue::owner {
  explicit fixture(outgoing_queue::options o = {}) : options(o) {}
  void pause_reading(bool p) override { paused = p; }
  void ask_flush() override { ++asked; }
  void on_stuck(const std::string& why) override { stuck = why; }

  outgoing_queue::options options;
  test::manual_time time;
  fake_transport::line line;
  fake_transport transport{line};
  outgoing_queue queue{options, time, transport, *this};
  std::shared_ptr<event_stream> run = std::make_shared<event_stream>(mcp::rpc_id::number(7), "r1");
  bool paused = false;
  int asked = 0;
  std::string stuck;
};

std::string line_of(int seq, const std::string& rest) {
  return R"({"jsonrpc":"2.0","method":"mcpbx/event","params":{"request":7,"run":"r1","seq":)" + std::to_string(seq) +
         "," + rest + "}}";
}

}  // namespace

TEST_CASE("an answer leaves at once when nothing waits") {
  fixture f;
  f.queue.push(text("a"));
  CHECK(f.line.sent == std::vector<std::string>{"a"});
  CHECK(f.asked == 0);
  CHECK(f.queue.bytes() == 0);
}

TEST_CASE("deltas of one turn leave as one event and keep their order with everything else") {
  fixture f;
  f.queue.push_event(f.run, delta("Hel"));
  f.queue.push_event(f.run, delta("lo \"x\"\n"));
  CHECK(f.line.sent.empty());
  CHECK(f.asked == 1);
  f.queue.push_event(f.run, delta("hm", run_event::kind::reasoning));
  f.queue.push_event(f.run, event(run_event::kind::round, R"({"type":"round","round":2})"));
  f.queue.push_event(f.run, delta("again"));
  f.queue.push(text("answer"));
  f.queue.flush();
  CHECK(f.line.sent == std::vector<std::string>{line_of(1, R"("type":"text","text":"Hello \"x\"\n")"),
                                                line_of(2, R"("type":"reasoning","text":"hm")"),
                                                line_of(3, R"("type":"round","round":2)"),
                                                line_of(4, R"("type":"text","text":"again")"), "answer"});
  CHECK(f.queue.counts().joined == 1);
}

TEST_CASE("G17: for a slow reader deltas of each run join over all turns") {
  fixture f;
  f.line.reads = false;
  f.queue.push(text(std::string(300'000, 'x')));
  auto other = std::make_shared<event_stream>(mcp::rpc_id::number(8), "r2");
  for (int i = 0; i < 1000; ++i) {
    f.queue.push_event(f.run, delta("a"));
    f.queue.push_event(other, delta("b"));
    f.queue.flush();
  }
  f.line.reads = true;
  f.line.unsent = 0;
  f.queue.flush();
  REQUIRE(f.line.sent.size() == 3);
  CHECK(f.line.sent[1] == line_of(1, R"("type":"text","text":")" + std::string(1000, 'a') + "\""));
  CHECK(f.line.sent[2].find(std::string(1000, 'b')) != std::string::npos);
}

TEST_CASE("G17: progress keeps the last of each token") {
  fixture f;
  f.line.reads = false;
  f.queue.push(text(std::string(300'000, 'x')));
  for (int i = 0; i < 100; ++i) {
    f.queue.push_progress(1, text("one " + std::to_string(i)));
    f.queue.push_progress(2, text("two " + std::to_string(i)));
    f.queue.push_event(f.run, event(run_event::kind::tool_progress,
                                    R"({"type":"tool_progress","n":)" + std::to_string(i) + "}", "c1"));
  }
  f.line.unsent = 0;
  f.queue.flush();
  CHECK(f.line.sent.size() == 4);
  CHECK(f.line.sent.at(1) == "one 99");
  CHECK(f.line.sent.at(2) == "two 99");
  CHECK(f.line.sent.at(3) == line_of(1, R"("type":"tool_progress","n":99)"));
  // What has left is not replaced any more.
  f.queue.push_progress(1, text("one 100"));
  CHECK(f.line.sent.size() == 5);
}

TEST_CASE("G17: logs drop the oldest and the next one says how many are missing") {
  outgoing_queue::options o;
  o.max_logs = 3;
  fixture f(o);
  f.line.reads = false;
  f.queue.push(text(std::string(300'000, 'x')));
  for (int i = 0; i < 10; ++i)
    f.queue.push_event(f.run, event(run_event::kind::tool_log, R"({"type":"tool_log","n":)" + std::to_string(i) + "}"));
  f.line.unsent = 0;
  f.queue.flush();
  REQUIRE(f.line.sent.size() == 4);
  CHECK(f.line.sent[1] == line_of(1, R"("dropped":7,"type":"tool_log","n":7)"));
  CHECK(f.line.sent[2] == line_of(2, R"("type":"tool_log","n":8)"));
  CHECK(f.queue.counts().dropped_logs == 7);
}

TEST_CASE("list_changed is a flag") {
  fixture f;
  for (int i = 0; i < 5; ++i) f.queue.push_list_changed();
  f.queue.flush();
  CHECK(f.line.sent == std::vector<std::string>{R"({"jsonrpc":"2.0","method":"notifications/tools/list_changed"})"});
  f.queue.push_list_changed();
  f.queue.flush();
  CHECK(f.line.sent.size() == 2);
}

TEST_CASE("G17: over the bound the caller is not read and results still enter") {
  outgoing_queue::options o;
  o.bound = 1'000'000;
  fixture f(o);
  f.line.reads = false;
  for (int i = 0; i < 30; ++i) f.queue.push(text(std::string(100'000, static_cast<char>('a' + i % 26))));
  CHECK(f.paused);
  CHECK(f.queue.bytes() >= 3'000'000);
  f.time.advance(milliseconds(29'999));
  CHECK(f.stuck.empty());
  // It reads again in time: everything comes, in order, and it is read again.
  f.line.reads = true;
  f.line.unsent = 0;
  f.queue.flush();
  CHECK(f.line.sent.size() == 30);
  for (int i = 0; i < 30; ++i) CHECK(f.line.sent.at(static_cast<std::size_t>(i)).front() == 'a' + i % 26);
  CHECK(!f.paused);
  f.time.advance(milliseconds(100'000));
  CHECK(f.stuck.empty());
  CHECK(f.queue.bytes() == 0);
}

TEST_CASE("G17: a caller that stays over the bound for 30 s is given up") {
  outgoing_queue::options o;
  o.bound = 1'000'000;
  fixture f(o);
  f.line.reads = false;
  for (int i = 0; i < 30; ++i) f.queue.push(text(std::string(100'000, 'x')));
  f.time.advance(milliseconds(30'000));
  CHECK(f.stuck.find("does not read") != std::string::npos);
}

TEST_CASE("G17: a caller that reads nothing while answers pile up to the ceiling is given up at once") {
  fixture f;
  f.line.reads = false;
  const std::string mib(1u << 20, 'x');
  int pushed = 0;
  for (; pushed < 100 && f.stuck.empty(); ++pushed) f.queue.push(text(mib));
  CHECK(f.stuck == "the caller does not read: more than 40 MiB wait for it");
  CHECK(pushed == 41);  // one is with the transport
}

TEST_CASE("G17: a caller that reads slower than its answers come is not given up for it") {
  fixture f;
  f.line.reads = false;
  const std::string mib(1u << 20, 'x');
  for (int i = 0; i < 100; ++i) {
    f.queue.push(text(mib));
    if (i % 4 == 3) {
      f.line.unsent = 0;
      f.queue.flush();
    }
  }
  CHECK(f.queue.bytes() > (70u << 20));
  CHECK(f.stuck.empty());
}

TEST_CASE("G17: two answers of the largest size at once are no reason to give a caller up") {
  fixture f;
  f.line.reads = false;
  f.queue.push(text(std::string(32u << 20, 'x')));
  f.queue.push(text(std::string(32u << 20, 'y')));
  CHECK(f.stuck.empty());
  CHECK(f.paused);
}

TEST_CASE("one large message enters an empty outbox and may take long as long as it moves") {
  fixture f;
  f.line.reads = false;
  f.queue.push(text(std::string(16u << 20, 'x')));
  CHECK(f.line.sent.size() == 1);
  CHECK(f.paused);
  for (int i = 0; i < 3; ++i) {
    f.line.unsent -= 1u << 20;
    f.time.advance(milliseconds(30'000));
    CHECK(f.stuck.empty());
  }
  f.time.advance(milliseconds(30'000));
  CHECK(!f.stuck.empty());
}

TEST_CASE("all bytes are given back whatever way the outbox ends") {
  const std::size_t before = byte_account::total();
  {
    fixture f;
    f.line.reads = false;
    f.queue.push(text(std::string(300'000, 'x')));
    for (int i = 0; i < 100; ++i) f.queue.push_event(f.run, delta("text "));
    f.queue.push_done(f.run, raw_json::own(R"({"stopReason":"final"})"));
    CHECK(byte_account::total() > before);
    f.queue.close();
    f.queue.push(text("late"));
    CHECK(f.queue.bytes() == f.line.unsent);
  }
  CHECK(byte_account::total() == before);
  {
    fixture f;
    for (int i = 0; i < 100; ++i) f.queue.push_event(f.run, delta("text "));
    f.queue.flush();
    f.line.sent.clear();
  }
  CHECK(byte_account::total() == before);
}

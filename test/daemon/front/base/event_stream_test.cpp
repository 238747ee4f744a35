// The lines of a run's events, through a feed and an outbox as a connection has them.
#include "daemon/front/base/event_stream.hpp"

#include "daemon/loop/json/event_json.hpp"
#include "test/daemon/front/fake_transport.hpp"
#include "test/support/manual_time.hpp"

#include <doctest/doctest.h>

#include <memory>
#include <string>
#include <vector>

using namespace mcpbx;
using namespace mcpbx::daemon::front;
using namespace mcpbx::daemon::run;
using namespace mcpbx::json;
using mcpbx::test::fake_transport;

namespace {

using kind = run_event::kind;

/// A caller with one outbox and as many streams as it likes.
struct stream_fixture final : outgoing_queue::owner, event_stream::owner {
  void pause_reading(bool) override {}
  void ask_flush() override {}
  void on_stuck(const std::string&) override {}
  void on_ready(const std::shared_ptr<event_stream>& s, outgoing_queue::pace how) override { queue.ready(s, how); }
  void on_end(event_stream& s) override {
    segments answer;
    answer.append_copy("answer to " + std::string(s.reply().id().token()) + ": ");
    answer.append(s.result());
    queue.push(std::move(answer));
  }
  std::shared_ptr<event_stream> stream(int id, run_feed::wish w = {}) {
    event_stream::owner& told = *this;
    auto s = std::make_shared<event_stream>(
        told, mcp::server::reply_once(new mcp::server::open_request(nullptr, mcp::rpc::rpc_id::number(id), 1)),
        feed->run());
    s->read(*feed, w);
    return s;
  }
  void say(std::string_view text) { feed->push({kind::text, "", std::string(text), {}}); }

  outgoing_queue::options options;
  test::manual_time time;
  fake_transport::line line;
  fake_transport transport{line};
  outgoing_queue queue{options, time, transport, *this};
  std::shared_ptr<run_feed> feed = std::make_shared<run_feed>("r\"1\"", run_feed::options());
};

std::string line_of(int request, int seq, const std::string& rest) {
  return R"({"jsonrpc":"2.0","method":"mcpbx/event","params":{"request":)" + std::to_string(request) +
         R"(,"run":"r\"1\"","seq":)" + std::to_string(seq) + "," + rest + "}}";
}

}  // namespace

TEST_CASE("L20: events leave as lines with request, run and seq, deltas of a turn as one, the result behind done") {
  stream_fixture f;
  const auto s = f.stream(7);
  f.say("Hel");
  f.say("lo \"x\"\n");
  CHECK(f.line.sent.empty());
  f.feed->push({kind::reasoning, "", "hm", {}});
  f.queue.flush();
  segments log;
  log.append_copy(R"({"type":"tool_log","n":1})");
  for (int i = 0; i < 2; ++i) f.feed->push({kind::tool_log, "", "", log});
  f.feed->done(raw_json::literal(R"({"text":"Hello"})"));
  CHECK(f.line.sent == std::vector<std::string>{line_of(7, 1, R"("type":"text","text":"Hello \"x\"\n")"),
                                                line_of(7, 2, R"("type":"reasoning","text":"hm")"),
                                                line_of(7, 3, R"("type":"tool_log","n":1)"),
                                                line_of(7, 4, R"("type":"tool_log","n":1)"),
                                                line_of(7, 5, R"("type":"done","result":{"text":"Hello"})"),
                                                R"(answer to 7: {"text":"Hello"})"});
}

TEST_CASE("the body of an event is in its line byte for byte, short or long, whole or in pieces") {
  for (const std::size_t size : {1, 900, 1'100, 100'000}) {
    const std::string text(size, 'x');
    for (const bool whole : {true, false}) {
      stream_fixture f;
      const auto s = f.stream(7);
      segments body;
      body.append_copy(R"({"type":"tool_result",)" + (whole ? "\"content\":\"" + text + "\"}" : std::string()));
      if (!whole) body.append_copy("\"content\":");
      if (!whole) body.append_copy("\"" + text + "\"}");
      f.feed->push({kind::tool_result, "", "", body});
      f.queue.flush();
      CHECK(f.line.sent ==
            std::vector<std::string>{line_of(7, 1, R"("type":"tool_result","content":")" + text + "\"")});
    }
  }
}

TEST_CASE("L18: two streams of a run on one connection have its events under the same numbers") {
  stream_fixture f;
  const auto one = f.stream(1);
  f.say("a");
  f.queue.flush();
  const auto two = f.stream(2, {.after = 1});
  f.say("b");
  f.queue.flush();
  f.feed->done(raw_json::literal("{}"));
  CHECK(f.line.sent == std::vector<std::string>{
                           line_of(1, 1, R"("type":"text","text":"a")"), line_of(1, 2, R"("type":"text","text":"b")"),
                           line_of(2, 2, R"("type":"text","text":"b")"), line_of(1, 3, R"("type":"done","result":{})"),
                           "answer to 1: {}", line_of(2, 3, R"("type":"done","result":{})"), "answer to 2: {}"});
}

TEST_CASE(
    "G17: a slow reader has dropped logs counted and what is gone told by a snapshot, and its response behind done") {
  stream_fixture f;
  f.feed = std::make_shared<run_feed>("r\"1\"", run_feed::options{.bound = 5'000, .max_logs = 2});
  const auto s = f.stream(7);
  f.line.reads = false;
  segments full;
  full.append_copy(std::string(300'000, 'x'));
  f.queue.push(full);
  for (int i = 1; i <= 20; ++i) {
    f.feed->push({kind::round, "", "", daemon::event_json::round(i, "m")});
    f.say("text of " + std::to_string(i));
  }
  segments log;
  log.append_copy(R"({"type":"tool_log"})");
  for (int i = 0; i < 5; ++i) f.feed->push({kind::tool_log, "", "", log});
  f.feed->done(raw_json::literal("{}"));
  CHECK(f.queue.bytes() < 310'000);
  f.line.reads = true;
  f.line.unsent = 0;
  f.queue.flush();
  const auto& sent = f.line.sent;
  REQUIRE(sent.size() > 5);
  CHECK(sent[1].find(R"("type":"snapshot","round":)") != std::string::npos);
  CHECK(sent[sent.size() - 4].find(R"("dropped":3,"type":"tool_log")") != std::string::npos);
  CHECK(sent[sent.size() - 2] == line_of(7, 43, R"("type":"done","result":{})"));
  CHECK(sent.back() == "answer to 7: {}");
}

TEST_CASE("a stream that has left is told nothing, and one of a run that is over is answered at once") {
  stream_fixture f;
  const auto s = f.stream(7);
  f.say("a");
  s->leave("cancelled by its caller");
  f.queue.flush();
  CHECK(f.line.sent.empty());
  f.feed->done(raw_json::literal("{}"));
  CHECK(f.line.sent.empty());
  const auto late = f.stream(8);
  CHECK(f.line.sent ==
        std::vector<std::string>{line_of(8, 1, R"("type":"snapshot","text":"a","calls":[],"questions":[])"),
                                 line_of(8, 2, R"("type":"done","result":{})"), "answer to 8: {}"});
  const auto later = f.stream(9, {.after = 2});
  CHECK(f.line.sent.size() == 4);
  CHECK(f.line.sent.back() == "answer to 9: {}");
}

// Requests of mcpbx to a caller: answers, bounds, time limits, and the call that they belong to.
#include "test/mcp/server/fake_host.hpp"

#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace caller_asks_test {

using namespace mcpbx;
using namespace mcpbx::json;
using namespace mcpbx::mcp::callers;
using namespace mcpbx::mcp::rpc;
using namespace mcpbx::mcp::server;
using namespace mcpbx::test;

constexpr std::string_view able = R"({"roots":{},"sampling":{"tools":{}},"elicitation":{}})";
using list = std::vector<std::string>;

std::string shown(const call_outcome& o) {
  if (o.type != call_outcome::kind::failed) return std::string(o.value.text());
  return std::string(mcpbx::to_string(o.failure.code)) + ": " + o.failure.message;
}

// A caller that can be asked, and the outcomes of its questions.
struct asked_caller {
  explicit asked_caller(caller_session::options o = {.version = "1"}, std::string_view revision = "2025-11-25")
      : caller(std::move(o)) {
    caller.initialize(revision, able);
  }
  result<call_number> ask(std::string_view method = "roots/list", const reply_once* call = nullptr,
                          milliseconds limit = milliseconds(1000)) {
    return caller.session.ask(method, raw_json::literal("{}"), call, limit, [this](call_outcome&& o) {
      ended.push_back(shown(o));
      if (then) then();
    });
  }
  /// Makes a request of the caller that stays open. Returns its answer.
  reply_once slow(int id) {
    caller.say(R"({"jsonrpc":"2.0","id":)" + std::to_string(id) + R"(,"method":"mcpbx/slow"})");
    return caller.host.slow.back();
  }
  void answer(std::string_view id, std::string_view body = R"("result":{})") {
    caller.say(R"({"jsonrpc":"2.0","id":)" + std::string(id) + "," + std::string(body) + "}");
  }
  list take_sent() { return std::exchange(caller.host.sent, {}); }

  list ended;
  std::function<void()> then;
  fake_caller caller;  // last member: its end reports outcomes to the members above
};

std::string cancelled(int number, std::string_view reason) {
  return R"({"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":)" + std::to_string(number) +
         R"(,"reason":")" + std::string(reason) + "\"}}";
}
const std::string_view call_ended = "the request that it belongs to has ended";

TEST_CASE("caller_session: a request of ours and its cancellation are sent as what they are") {
  asked_caller c;
  const auto number = c.ask();
  REQUIRE(number);
  c.caller.session.withdraw(*number, "why");
  const auto& as = c.caller.host.asks_as;
  REQUIRE(as.size() == 2);
  CHECK(as[0].type == outgoing::kind::request);
  CHECK(as[1].type == outgoing::kind::cancellation);
  CHECK(as[0].id == *number);
  CHECK(as[1].id == *number);
}

TEST_CASE("caller_session: the caller's answer ends a request of ours, with its own bytes") {
  asked_caller c;
  CHECK(c.ask("elicitation/create") == 1);
  CHECK(c.ask("roots/list") == 2);
  CHECK(c.take_sent() == list{R"({"jsonrpc":"2.0","id":1,"method":"elicitation/create","params":{}})",
                              R"({"jsonrpc":"2.0","id":2,"method":"roots/list","params":{}})"});
  CHECK(c.caller.session.asked() == 2);
  c.answer("2", R"("result":{"roots":[ ]})");
  c.answer("1", R"("error":{"code":-1,"message":"no"})");
  CHECK(c.ended == list{R"({"roots":[ ]})", R"({"code":-1,"message":"no"})"});
  CHECK(c.caller.session.asked() == 0);
  CHECK(c.caller.session.counts().stray == 0);
  CHECK(c.take_sent().empty());
  CHECK(c.caller.host.clock.armed() == 0);
}

TEST_CASE("caller_session: an answer that arrives in pieces ends a request of ours once, at every split") {
  const std::string line = R"({"jsonrpc":"2.0","id":1,"result":{"roots":["é"]}})"
                           "\n";
  for (std::size_t at = 0; at <= line.size(); ++at) {
    asked_caller c;
    REQUIRE(c.ask());
    line_framer framer{{}};
    framer.feed(line.substr(0, at), c.caller);
    framer.feed(line.substr(at), c.caller);
    CHECK(c.ended == list{R"({"roots":["é"]})"});
  }
}

TEST_CASE("caller_session: an id of ours and an equal id of the caller are two requests") {
  asked_caller c;
  auto reply = c.slow(1);
  REQUIRE(c.ask() == 1);
  c.answer("1");
  CHECK(c.ended == list{"{}"});
  CHECK(reply.open());
  c.take_sent();
  REQUIRE(c.ask() == 2);
  c.caller.say(R"({"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":2}})");
  CHECK(c.caller.session.asked() == 1);  // the caller cancels its own requests only
  reply.result(raw_json::literal("{}"));
  CHECK(c.take_sent().back() == R"({"jsonrpc":"2.0","id":1,"result":{}})");
}

TEST_CASE("caller_session: answers with foreign ids are dropped and counted, and ours still comes") {
  asked_caller c;
  REQUIRE(c.ask());
  c.take_sent();
  const char* const whole[] = {"\"1\"", "0", "-1", "2", "01e", "18446744073709551617", "\"\\u0031\"", "\"\""};
  std::size_t stray = 0;
  for (const std::string_view id : whole) {
    CAPTURE(id);
    const auto faults = c.caller.session.counts().faults;
    c.answer(id);
    if (c.caller.session.counts().faults == faults) ++stray;
    CHECK(c.caller.session.counts().stray == stray);
    CHECK(c.ended.empty());
  }
  CHECK(stray == std::size(whole) - 1);
  c.take_sent();  // "01e" is no JSON, and its sender gets an error
  for (const std::string_view id : {"null", "1.0", "1.5", "1e0", "{}", "[1]", "true"}) {
    CAPTURE(id);
    c.answer(id);
    CHECK(c.ended.empty());
    CHECK(c.take_sent().empty());
  }
  c.answer("1");
  CHECK(c.ended == list{"{}"});
}

TEST_CASE("caller_session: second and late answers are dropped and counted") {
  asked_caller c;
  REQUIRE(c.ask());
  c.answer("1");
  c.answer("1", R"("result":{"again":1})");
  CHECK(c.caller.session.counts().stray == 1);
  REQUIRE(c.ask());
  CHECK(c.caller.session.withdraw(2, "not needed"));
  CHECK_FALSE(c.caller.session.withdraw(2, "not needed"));
  c.answer("2");
  CHECK(c.caller.session.counts().stray == 2);
  CHECK(c.ended == list{"{}", "cancelled: was cancelled: not needed"});
  CHECK(c.take_sent().back() == cancelled(2, "not needed"));
}

TEST_CASE("caller_session: an answer against the protocol ends its request at once") {
  asked_caller c;
  for (const std::string_view body : {R"("result":[])", R"("result":{},"error":{"code":1,"message":"x"})",
                                      R"("error":7)", R"("result":{},"result":{})"}) {
    CAPTURE(body);
    c.ended.clear();
    const auto n = c.ask();
    REQUIRE(n);
    c.take_sent();
    c.answer(std::to_string(*n), body);
    REQUIRE(c.ended.size() == 1);
    CHECK(c.ended.front().starts_with("protocol: was answered against the protocol: "));
    CHECK(c.take_sent().empty());
  }
  CHECK(c.caller.session.counts().stray == 0);
}

TEST_CASE("caller_session: answers in a batch reach their requests") {
  asked_caller c({.version = "1"}, "2025-03-26");
  REQUIRE(c.ask());
  REQUIRE(c.ask());
  c.take_sent();
  c.caller.say(
      R"([{"jsonrpc":"2.0","id":1,"result":{"a":1}},{"jsonrpc":"2.0","id":7,"method":"ping"},{"jsonrpc":"2.0","id":2,"result":[]},{"jsonrpc":"2.0","id":3,"result":{}}])");
  CHECK(c.ended.size() == 2);
  CHECK(c.ended.front() == R"({"a":1})");
  CHECK(c.take_sent() == list{R"([{"jsonrpc":"2.0","id":7,"result":{}}])"});
  CHECK(c.caller.session.counts().stray == 1);
}

TEST_CASE("caller_session: a caller that cannot answer is not asked, and the refusal says why") {
  const auto refusal = [](asked_caller& c, std::string_view method) {
    const auto n = c.ask(method);
    REQUIRE_FALSE(n);
    CHECK(c.ended.empty());
    CHECK(c.take_sent().empty());
    return std::string(mcpbx::to_string(n.error().code)) + ": " + n.error().message;
  };
  asked_caller c;
  CHECK(refusal(c, "tools/list") == "not_found: callers have no method \"tools/list\"");
  fake_caller plain;
  const auto ask = [&](std::string_view method) {
    return plain.session.ask(method, {}, nullptr, milliseconds(1), [](call_outcome&&) { FAIL("it was refused"); });
  };
  CHECK(ask("roots/list").error().message ==
        "the caller has not said that it is initialized, so it can be asked nothing");
  plain.initialize();
  CHECK(ask("roots/list").error().message ==
        "the caller has not declared the capability roots, which roots/list needs");
  CHECK(plain.host.sent.empty());
  plain.session.close();
  CHECK(ask("roots/list").error().code == errc::unavailable);
}

TEST_CASE("caller_session: requests of ours are bounded in number and bytes") {
  caller_session::options o{.version = "1"};
  o.asks = {.max_open = 2, .max_bytes = 200};
  asked_caller c(o);
  REQUIRE(c.ask());
  const raw_json large = raw_json::own("{\"a\":\"" + std::string(100, 'x') + "\"}");
  const auto ask_large = [&] {
    return c.caller.session.ask("roots/list", large, nullptr, milliseconds(1), [](call_outcome&&) {});
  };
  CHECK(ask_large().error().code == errc::limit);
  REQUIRE(c.ask());
  CHECK(c.ask().error().message == "the caller has 2 requests of mcpbx to answer already; wait for some of them");
  c.answer("1");
  c.answer("2");
  CHECK(ask_large().has_value());  // ended requests make room again
  CHECK(c.caller.session.asked() == 1);
}

TEST_CASE("caller_session: a request of ours ends at its limit of time and the caller is told") {
  asked_caller c;
  REQUIRE(c.ask("roots/list", nullptr, milliseconds(2000)));
  REQUIRE(c.ask("roots/list", nullptr, milliseconds(1500)));
  c.take_sent();
  c.caller.host.clock.advance(milliseconds(1499));
  CHECK(c.ended.empty());
  c.caller.host.clock.advance(milliseconds(1));
  CHECK(c.ended == list{"timed_out: has not ended within its limit of 1500 ms"});
  CHECK(c.take_sent() == list{cancelled(2, "timed out")});
  c.caller.host.clock.advance(milliseconds(500));
  CHECK(c.ended.size() == 2);
  CHECK(c.take_sent() == list{cancelled(1, "timed out")});
  c.answer("1");
  CHECK(c.caller.session.counts().stray == 1);
  CHECK(c.caller.host.clock.armed() == 0);
}

TEST_CASE("caller_session: a request of ours ends with the answer of the call that it belongs to") {
  asked_caller c;
  auto call = c.slow(7), other = c.slow(8);
  REQUIRE(c.ask("roots/list", &call));
  REQUIRE(c.ask("roots/list", &other));
  REQUIRE(c.ask("roots/list"));
  CHECK(c.caller.host.asks_about == std::vector<std::uint64_t>{call.serial(), other.serial(), 0});
  c.take_sent();
  c.then = [&] { CHECK(c.caller.host.sent.size() == 2); };  // the answer has left before the outcome is reported
  call.result(raw_json::literal("{}"));
  CHECK(c.take_sent() == list{cancelled(1, call_ended), R"({"jsonrpc":"2.0","id":7,"result":{}})"});
  CHECK(c.ended == list{"cancelled: was cancelled: " + std::string(call_ended)});
  CHECK(c.caller.session.asked() == 2);
  const auto late = c.ask("roots/list", &call);
  CHECK(late.error().code == errc::cancelled);
  c.then = nullptr;
}

TEST_CASE("caller_session: a request of ours ends with the cancelled call that it belongs to") {
  asked_caller c;
  auto call = c.slow(7);
  REQUIRE(c.ask("roots/list", &call));
  c.take_sent();
  c.caller.say(R"({"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":7}})");
  CHECK(c.ended == list{"cancelled: was cancelled: " + std::string(call_ended)});
  CHECK(c.take_sent().front() == cancelled(1, call_ended));
  CHECK(c.caller.host.ended == 1);
}

TEST_CASE("caller_session: when the caller is gone its requests end as unavailable and nothing is sent") {
  asked_caller c;
  auto call = c.slow(7);
  REQUIRE(c.ask("roots/list", &call));
  REQUIRE(c.ask());
  c.take_sent();
  c.caller.session.close();
  CHECK(c.ended == list{"unavailable: will not be answered: the caller is gone",
                        "unavailable: will not be answered: the caller is gone"});
  CHECK(c.take_sent().empty());
  CHECK(c.caller.host.clock.armed() == 0);
  CHECK_FALSE(c.caller.session.withdraw(1, "x"));
}

TEST_CASE("caller_session: a caller that ended its side is asked nothing more and still gets its answers") {
  asked_caller c;
  auto call = c.slow(7);
  REQUIRE(c.ask("roots/list", &call));
  c.take_sent();
  c.caller.session.end_input();
  CHECK(c.ended == list{"unavailable: will not be answered: the caller has ended its side of the connection"});
  CHECK(c.take_sent() == list{cancelled(1, "the caller can answer no more")});
  CHECK(c.ask().error().code == errc::unavailable);
  call.result(raw_json::literal("{}"));
  CHECK(c.take_sent() == list{R"({"jsonrpc":"2.0","id":7,"result":{}})"});
}

// A session that its own handlers destroy, and every way in which a request of mcpbx ends.
struct mortal final : message_sink {
  fake_host host;
  caller_session::options options{.version = "1"};
  std::unique_ptr<caller_session> session = std::make_unique<caller_session>(host, options);
  line_framer framer{{}};
  int ended = 0;

  void say(std::string_view line) { framer.feed(std::string(line) + "\n", *this); }
  void on_message(message&& m) override {
    if (session) session->on_message(std::move(m));
  }
  void on_fault(message_fault f) override {
    if (session) session->on_fault(f);
  }
  void open(const std::function<void(mortal&)>& act) {
    say(R"({"jsonrpc":"2.0","id":"i","method":"initialize","params":{"protocolVersion":"2025-03-26","capabilities":{"roots":{}}}})");
    say(R"({"jsonrpc":"2.0","method":"notifications/initialized"})");
    say(R"({"jsonrpc":"2.0","id":7,"method":"mcpbx/slow"})");
    for (int i = 0; i < 3; ++i)
      REQUIRE(session->ask("roots/list", {}, &host.slow.front(), milliseconds(1000), [this, act](call_outcome&&) {
        ++ended;
        act(*this);
      }));
  }
};

TEST_CASE("caller_session: the end of a request of ours may answer, ask, close and destroy") {
  const std::vector<std::function<void(mortal&)>> acts{
      [](mortal& m) { m.session.reset(); },
      [](mortal& m) {
        if (m.session) m.session->close();
      },
      [](mortal& m) {
        if (m.session) m.host.slow.front().result(raw_json::literal("{}"));
      },
      [](mortal& m) {
        if (m.session) (void)m.session->ask("roots/list", {}, nullptr, milliseconds(0), [](call_outcome&&) {});
      },
      [](mortal& m) {
        for (int n = 1; m.session && n <= 3; ++n) m.session->withdraw(n, "why");
      },
      [](mortal& m) { m.host.slow.clear(); },
  };
  const std::vector<std::function<void(mortal&)>> ends{
      [](mortal& m) { m.say(R"({"jsonrpc":"2.0","id":2,"result":{}})"); },
      [](mortal& m) { m.say(R"({"jsonrpc":"2.0","id":2,"result":7})"); },
      [](mortal& m) { m.say(R"({"jsonrpc":"2.0","id":2,"result":{},"error":{}})"); },
      [](mortal& m) {
        m.say(
            R"([{"jsonrpc":"2.0","id":1,"result":{}},{"jsonrpc":"2.0","id":2,"result":{},"error":{}},{"jsonrpc":"2.0","id":8,"method":"ping"},{"jsonrpc":"2.0","id":3,"result":{}}])");
      },
      [](mortal& m) {
        m.say(
            R"([{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":7}},{"jsonrpc":"2.0","id":8,"method":"ping"}])");
      },
      [](mortal& m) { m.host.clock.advance(milliseconds(1000)); },
      [](mortal& m) { m.session->withdraw(1, "why"); },
      [](mortal& m) { m.session->end_input(); },
      [](mortal& m) { m.session->close(); },
      [](mortal& m) { m.session.reset(); },
      [](mortal& m) { m.say(R"({"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":7}})"); },
      [](mortal& m) { reply_once(m.host.slow.front()).result(raw_json::literal("{}")); },
      [](mortal& m) { m.host.slow.clear(); },
  };
  for (std::size_t act = 0; act < acts.size(); ++act)
    for (std::size_t end = 0; end < ends.size(); ++end) {
      CAPTURE(act);
      CAPTURE(end);
      mortal m;
      m.open(acts[act]);
      ends[end](m);
      CHECK(m.ended >= 1);
      if (m.session) m.session->close();
      CHECK(m.ended == 3);
    }
}

}  // namespace caller_asks_test

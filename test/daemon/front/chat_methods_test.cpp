// The methods mcpbx/chat, mcpbx/attach and mcpbx/cancel: requests that begin runs, follow them and end them.
#include "daemon/front/base/begun_names.hpp"
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

TEST_CASE("L20: a chat streams its events with request and run and seq and ends with done and its result") {
  door_fixture f;
  auto& caller = f.enter();
  CHECK(f.ask(caller, request(5, "mcpbx/chat", R"({"input":"go"})")).empty());
  REQUIRE(f.backend.started.size() == 1);
  CHECK(f.backend.started[0].principal == "uid:1000");
  segments round;
  round.append_copy(R"({"type":"round","round":1,"model":"m"})");
  auto& feed = *f.backend.feeds.at("run-1");
  feed.push({run_event::kind::round, "", "", round});
  feed.push({run_event::kind::text, "", "Hel", {}});
  feed.push({run_event::kind::text, "", "lo", {}});
  feed.done(raw_json::own(R"({"run":"run-1","text":"Hello"})"));
  f.run();
  const std::string head = R"({"jsonrpc":"2.0","method":"mcpbx/event","params":{"request":5,"run":"run-1","seq":)";
  CHECK(caller.sent == std::vector<std::string>{head + R"(1,"type":"round","round":1,"model":"m"}})",
                                                head + R"(2,"type":"text","text":"Hello"}})",
                                                head + R"(3,"type":"done","result":{"run":"run-1","text":"Hello"}}})",
                                                R"({"jsonrpc":"2.0","id":5,"result":{"run":"run-1","text":"Hello"}})"});
}

TEST_CASE("stream false leaves out text and reasoning") {
  door_fixture f;
  auto& caller = f.enter();
  f.ask(caller, request(5, "mcpbx/chat", R"({"input":"go","stream":false})"));
  f.backend.feeds.at("run-1")->push({run_event::kind::text, "", "Hel", {}});
  f.backend.feeds.at("run-1")->push({run_event::kind::reasoning, "", "hm", {}});
  f.run();
  CHECK(caller.sent.empty());
}

TEST_CASE("a chat that cannot start is answered with the reason") {
  door_fixture f;
  auto& caller = f.enter();
  CHECK(code_of(f.ask(caller, request(1, "mcpbx/chat", R"({"input":"go","model":"nope"})"))) == -32002);
  CHECK(text_of(f.ask(caller, request(2, "mcpbx/chat", R"({"input":"go","limits":{"maxRounds":"x"}})")))
            .find("params.limits.maxRounds") == 0);
  for (int i = 0; i < 64; ++i) CHECK(f.ask(caller, request(100 + i, "mcpbx/chat", R"({"input":"go"})")).empty());
  CHECK(code_of(f.ask(caller, request(3, "mcpbx/chat", R"({"input":"go"})"))) == -32001);
}

TEST_CASE("L18: who names a run whose request still asks the journal for the name waits until it has begun") {
  door_fixture f;
  auto& caller = f.enter();
  auto& other = f.enter();
  f.backend.looks_long = true;
  CHECK(f.ask(caller, request(1, "mcpbx/chat", R"({"input":"go","run":"run-mine"})")).empty());
  CHECK(f.ask(caller, request(2, "mcpbx/cancel", R"({"run":"run-mine"})")).empty());
  CHECK(f.ask(other, request(3, "mcpbx/attach", R"({"run":"run-mine"})")).empty());
  CHECK(f.backend.cancelled.empty());
  CHECK(f.backend.recalled.size() == 1);
  f.backend.looking(fail(errc::not_found, "there is none"));
  f.run();
  CHECK(f.backend.started.size() == 1);
  CHECK(f.backend.cancelled == std::vector<std::string>{"run-mine"});
  CHECK(caller.sent.back() == R"({"jsonrpc":"2.0","id":2,"result":{}})");
  CHECK(f.backend.recalled.size() == 1);
  f.backend.feeds.at("run-mine")->done(raw_json::own(R"({"run":"run-mine"})"));
  f.run();
  CHECK(other.sent.back() == R"({"jsonrpc":"2.0","id":3,"result":{"run":"run-mine"}})");
  // A name that came to nothing is let go of.
  CHECK(f.ask(caller, request(4, "mcpbx/chat", R"({"input":"go","run":"run-broken"})")).empty());
  CHECK(f.ask(other, request(5, "mcpbx/attach", R"({"run":"run-broken"})")).empty());
  f.backend.looking(fail(errc::io, "no journal"));
  f.run();
  CHECK(f.backend.started.size() == 1);
  REQUIRE(f.backend.looking.then);
  f.backend.looking(fail(errc::not_found, "there is none"));
  f.run();
  CHECK(code_of(other.sent.back()) == -32002);
}

TEST_CASE("L18: no more than 256 requests wait for runs that are about to begin") {
  boost::asio::io_context context(1);
  begun_names names(context.get_executor());
  auto mine = names.hold("mine"), yours = names.hold("yours");
  int came = 0;
  for (std::size_t i = 0; i < begun_names::max_waiting; ++i)
    CHECK(names.wait(i % 2 == 0 ? "mine" : "yours", [&] { ++came; }).has_value());
  const auto refused = names.wait("mine", [&] { ++came; });
  REQUIRE_FALSE(refused.has_value());
  CHECK(refused.error().code == errc::limit);
  mine.reset();
  CHECK_FALSE(names.has("mine"));
  CHECK(came == 0);
  context.run();
  CHECK(came == 128);
  CHECK(names.wait("yours", [&] { ++came; }).has_value());
}

TEST_CASE("L18: a cancel is answered when it is kept, and with the reason when it could not be") {
  door_fixture f;
  auto& caller = f.enter();
  f.ask(caller, request(1, "mcpbx/chat", R"({"input":"go"})"));
  f.backend.cancels_long = true;
  CHECK(f.ask(caller, request(2, "mcpbx/cancel", R"({"run":"run-1"})")).empty());
  f.backend.cancel_kept({});
  f.run();
  CHECK(caller.sent.back() == R"({"jsonrpc":"2.0","id":2,"result":{}})");
  CHECK(f.ask(caller, request(3, "mcpbx/cancel", R"({"request":1})")).empty());
  f.backend.cancel_kept(fail(errc::io, "it could not be kept"));
  f.run();
  CHECK(text_of(caller.sent.back()) == "it could not be kept");
}

TEST_CASE("L18: cancelling a chat reaches its run") {
  door_fixture f;
  auto& caller = f.enter();
  f.ask(caller, request(1, "mcpbx/chat", R"({"input":"go"})"));
  f.ask(caller, request(2, "mcpbx/chat", R"({"input":"go"})"));
  const std::string got =
      f.ask(caller, R"({"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":1}})");
  CHECK(code_of(got) == -32800);
  CHECK(f.backend.abandoned == std::vector<std::string>{"run-1: cancelled by its caller"});
  const std::size_t sent = caller.sent.size();
  f.backend.feeds.at("run-1")->push({run_event::kind::text, "", "late", {}});
  f.backend.feeds.at("run-1")->done(raw_json::literal("{}"));
  f.run();
  CHECK(caller.sent.size() == sent);
  // Asked for by method, the run ends with its result.
  CHECK(result_of(f.ask(caller, request(3, "mcpbx/cancel", R"({"request":2})"))).text() == "{}");
  CHECK(f.backend.cancelled.back() == "run-2");
  f.backend.feeds.at("run-2")->done(raw_json::own(R"({"stopReason":"cancelled"})"));
  f.run();
  CHECK(caller.sent.back() == R"({"jsonrpc":"2.0","id":2,"result":{"stopReason":"cancelled"}})");
}

TEST_CASE("L18: two callers of a run get its events and its result, and it goes on while one of them is there") {
  door_fixture f;
  auto& starter = f.enter();
  auto& other = f.enter();
  f.ask(starter, request(5, "mcpbx/chat", R"({"input":"go","run":"mine"})"));
  auto& feed = *f.backend.feeds.at("mine");
  feed.push({run_event::kind::text, "", "Hel", {}});
  f.run();
  CHECK(
      f.ask(other, request(1, "mcpbx/attach", R"({"run":"mine"})")).find(R"("seq":1,"type":"snapshot","text":"Hel")") !=
      std::string::npos);
  feed.push({run_event::kind::text, "", "lo", {}});
  f.run();
  CHECK(starter.sent.back() == other.sent.back().replace(other.sent.back().find("\"request\":1"), 11, "\"request\":5"));
  starter.events->on_closed({errc::unavailable, "left"});
  f.run();
  CHECK(f.backend.abandoned.empty());
  feed.done(raw_json::literal("{}"));
  f.run();
  CHECK(other.sent.back() == R"({"jsonrpc":"2.0","id":1,"result":{}})");
}

TEST_CASE("L18: a detached start is answered when it is recorded, and the run is left alone by callers that leave") {
  door_fixture f;
  auto& caller = f.enter();
  CHECK(f.ask(caller, request(5, "mcpbx/chat", R"({"input":"go","run":"mine","detach":true})")).empty());
  CHECK(f.backend.started.at(0).detach);
  f.backend.told(runner::recorded_run{"mine", "ses_1"});
  f.run();
  CHECK(caller.sent ==
        std::vector<std::string>{R"({"jsonrpc":"2.0","id":5,"result":{"run":"mine","session":"ses_1"}})"});
  f.ask(caller, request(6, "mcpbx/attach", R"({"run":"mine"})"));
  // A caller that cancels its attached request leaves the run.
  CHECK(code_of(f.ask(caller, R"({"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":6}})")) ==
        -32800);
  f.ask(caller, request(7, "mcpbx/attach", R"({"run":"mine"})"));
  caller.events->on_closed({errc::unavailable, "left"});
  f.run();
  CHECK(f.backend.abandoned.empty());
  CHECK(f.backend.cancelled.empty());
  auto& again = f.enter();
  f.backend.feeds.at("mine")->push({run_event::kind::text, "", "a", {}});
  f.backend.feeds.at("mine")->done(raw_json::literal("{}"));
  f.ask(again, request(1, "mcpbx/attach", R"({"run":"mine"})"));
  CHECK(again.sent.size() == 3);
  CHECK(again.sent.back() == R"({"jsonrpc":"2.0","id":1,"result":{}})");
}

TEST_CASE("L18: a detached start that cannot be recorded is an error, and one that is cancelled before is cancelled") {
  door_fixture f;
  auto& caller = f.enter();
  f.ask(caller, request(1, "mcpbx/chat", R"({"input":"go","detach":true})"));
  f.backend.told(fail(errc::io, "the run was not started: no space left on device"));
  CHECK(text_of(caller.sent.back()).find("no space left") != std::string::npos);
  f.ask(caller, request(2, "mcpbx/chat", R"({"input":"go","detach":true})"));
  CHECK(code_of(f.ask(caller, R"({"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":2}})")) ==
        -32800);
  CHECK(f.backend.cancelled == std::vector<std::string>{"run-2"});
}

TEST_CASE("L18 G23: a run that only the journal knows is told to whoever attaches or asks for the same again") {
  door_fixture f;
  f.backend.looks_long = true;
  const auto ended = [] {
    auto feed = std::make_shared<run_feed>("old", run_feed::options{.keep = true});
    feed->done(raw_json::literal(R"({"run":"old"})"));
    return runner::recalled_run{feed, "ses_7"};
  };
  const std::string result = R"("result":{"run":"old"}})";
  auto& caller = f.enter();
  CHECK(f.ask(caller, request(1, "mcpbx/attach", R"({"run":"old"})")).empty());
  f.backend.looking(ended());
  f.run();
  CHECK(caller.sent.back() == R"({"jsonrpc":"2.0","id":1,)" + result);
  CHECK(f.ask(caller, request(2, "mcpbx/chat", R"({"run":"old"})")).empty());
  f.backend.looking(ended());
  f.run();
  CHECK(caller.sent.back() == R"({"jsonrpc":"2.0","id":2,)" + result);
  CHECK(f.ask(caller, request(3, "mcpbx/chat", R"({"run":"old","input":"a","detach":true})")).empty());
  f.backend.looking(ended());
  CHECK(caller.sent.back() == R"({"jsonrpc":"2.0","id":3,"result":{"run":"old","session":"ses_7","ended":true}})");
  CHECK(f.backend.started.empty());
  CHECK(f.backend.recalled == std::vector<std::string>{"old", "old", "old with its likeness"});

  // Another request of that name, and a name that is known nowhere.
  CHECK(f.ask(caller, request(4, "mcpbx/chat", R"({"run":"old","input":"b"})")).empty());
  f.backend.looking(fail(errc::not_found, "no"));
  CHECK(f.backend.started.size() == 1);
  f.ask(caller, request(5, "mcpbx/attach", R"({"run":"who"})"));
  f.backend.looking(fail(errc::not_found, "no run is named \"who\"; it may have ended"));
  CHECK(text_of(caller.sent.back()) == "no run is named \"who\"; it may have ended");
  f.ask(caller, request(6, "mcpbx/chat", R"({"run":"new","input":"b"})"));
  f.backend.looking(fail(errc::io, "the journal cannot be read"));
  CHECK(text_of(caller.sent.back()) == "the journal cannot be read");
  CHECK(f.backend.started.size() == 1);

  // A caller that cancels or leaves meanwhile starts nothing.
  f.ask(caller, request(7, "mcpbx/chat", R"({"run":"new","input":"b"})"));
  f.ask(caller, R"({"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":7}})");
  f.backend.looking(fail(errc::not_found, "no"));
  f.ask(caller, request(8, "mcpbx/chat", R"({"run":"new","input":"b"})"));
  caller.events->on_closed({errc::unavailable, "left"});
  f.run();
  f.backend.looking(fail(errc::not_found, "no"));
  CHECK(f.backend.started.size() == 1);
}

TEST_CASE("L18 G24: who attaches while the journal still gives back what was left finds the run") {
  door_fixture f;
  f.backend.looks_long = true;
  auto& caller = f.enter();
  f.ask(caller, request(1, "mcpbx/attach", R"({"run":"night"})"));
  CHECK(caller.sent.empty());
  f.backend.feeds.emplace("night", std::make_shared<run_feed>("night", run_feed::options{.keep = true}));
  f.backend.looking(fail(errc::not_found, "no run is named \"night\"; it may have ended"));
  f.run();
  CHECK(caller.sent.empty());
  f.backend.feeds.at("night")->done(raw_json::literal(R"({"text":"done"})"));
  f.run();
  REQUIRE_FALSE(caller.sent.empty());
  CHECK(caller.sent.back().find(R"("id":1,"result":{"text":"done"})") != std::string::npos);
}

TEST_CASE("L18 G24: while runs of an earlier daemon are not here nothing by name is told not to be, or begun anew") {
  const std::string results =
      R"("messages":[{"role":"tool","content":[{"type":"tool_result","id":"a","name":"mine","result":{"content":[]}}]}])";
  const std::vector<std::pair<std::string, std::string>> by_name{
      {"mcpbx/chat", R"({"run":"night","input":"go","detach":true})"},
      {"mcpbx/chat", R"({"run":"night","input":"go"})"},
      {"mcpbx/chat", R"({"run":"night"})"},
      {"mcpbx/chat", R"({"run":"night",)" + results + "}"},
      {"mcpbx/attach", R"({"run":"night"})"},
      {"mcpbx/cancel", R"({"run":"night"})"},
      {"mcpbx/answer", R"({"run":"night","question":"q","approve":true})"}};
  for (const auto& [method, params] : by_name) {
    CAPTURE(method);
    CAPTURE(params);
    door_fixture f;
    f.backend.left_behind = true;
    auto& caller = f.enter();
    CHECK(f.ask(caller, request(1, method, params)).empty());
    CHECK(f.ask(caller, request(2, method, params)).empty());
    REQUIRE(f.backend.for_left.size() == 2);
    f.backend.for_left[0](fail(errc::unavailable, "an earlier daemon may have left runs"));
    REQUIRE(caller.sent.size() == 1);
    CHECK(code_of(caller.sent[0]) == -32000);
    CHECK(id_of(caller.sent[0]) == "1");
    CHECK(text_of(caller.sent[0]) == "an earlier daemon may have left runs");
    CHECK(caller.sent[0].find(R"("retryable":true)") != std::string::npos);
    CHECK(f.backend.started.empty());
    CHECK(f.backend.recalled.empty());
    CHECK(f.backend.cancelled.empty());
    // The run has come.
    f.backend.feeds.emplace("night", std::make_shared<run_feed>("night", run_feed::options{.keep = true}));
    f.backend.for_left[1]({});
    f.run();
    CHECK(f.backend.recalled.empty());
    CHECK(f.backend.started.empty());
    CHECK(f.backend.cancelled.size() == (method == "mcpbx/cancel" ? 1 : 0));
    // It is known from now on without a question.
    f.ask(caller, request(3, "mcpbx/attach", R"({"run":"night"})"));
    CHECK(f.backend.for_left.size() == 2);
  }
  door_fixture f;
  f.backend.left_behind = true;
  auto& caller = f.enter();
  f.ask(caller, request(1, "mcpbx/chat", R"({"input":"go"})"));
  f.ask(caller, request(2, "mcpbx/chat", R"({"input":"go","detach":true})"));
  f.ask(caller, request(3, "mcpbx/cancel", R"({"request":1})"));
  CHECK(f.backend.started.size() == 2);
  CHECK(f.backend.cancelled.size() == 1);
  CHECK(f.backend.for_left.empty());

  // A caller that cancels or leaves meanwhile begins nothing.
  f.ask(caller, request(4, "mcpbx/chat", R"({"run":"night","input":"go"})"));
  f.ask(caller, R"({"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":4}})");
  f.ask(caller, request(5, "mcpbx/chat", R"({"run":"night","input":"go"})"));
  caller.events->on_closed({errc::unavailable, "left"});
  f.run();
  REQUIRE(f.backend.for_left.size() == 2);
  for (const auto& then : f.backend.for_left) then({});
  CHECK(f.backend.started.size() == 2);
}

TEST_CASE("mcpbx/attach counts among the runs of a connection") {
  auto o = door_fixture::make_options();
  o.max_runs_per_caller = 2;
  door_fixture f(o);
  auto& caller = f.enter();
  f.ask(caller, request(1, "mcpbx/chat", R"({"input":"go"})"));
  f.ask(caller, request(2, "mcpbx/attach", R"({"run":"run-1"})"));
  CHECK(code_of(f.ask(caller, request(3, "mcpbx/attach", R"({"run":"run-1"})"))) == -32001);
}

TEST_CASE("G18: detached runs count among those of the connection that started them, until they have ended") {
  auto o = door_fixture::make_options();
  o.max_runs_per_caller = 2;
  door_fixture f(o);
  auto& caller = f.enter();
  const auto start = [&](int id, const std::string& more) {
    return f.ask(caller, request(id, "mcpbx/chat", R"({"input":"go")" + more + "}"));
  };
  start(1, R"(,"run":"night","detach":true)");
  start(2, "");
  const std::string full =
      "this connection has 2 runs going already, 1 of them detached; wait for one of them, or cancel it";
  for (const std::string more : {"", R"(,"detach":true)", R"(,"run":"day","detach":true)"}) {
    CAPTURE(more);
    const auto refused = start(3, more);
    CHECK(code_of(refused) == -32001);
    CHECK(text_of(refused) == full);
  }
  CHECK(f.backend.started.size() == 2);
  // Others have places of their own.
  f.ask(f.enter(), request(1, "mcpbx/chat", R"({"input":"go","detach":true})"));
  CHECK(f.backend.started.size() == 3);
  // To follow its own run a connection needs no further place, nor to ask for it again.
  f.backend.feeds.at("run-2")->done(raw_json::literal("{}"));
  f.run();
  f.ask(caller, request(4, "mcpbx/attach", R"({"run":"night"})"));
  f.ask(caller, request(5, "mcpbx/chat", R"({"run":"night","input":"go","detach":true})"));
  CHECK(text_of(start(6, "")) == full);
  f.backend.feeds.at("night")->done(raw_json::literal("{}"));
  f.run();
  start(7, R"(,"detach":true)");
  start(8, R"(,"detach":true)");
  CHECK(f.backend.started.size() == 5);
  CHECK(text_of(start(9, "")).find("2 of them detached") != std::string::npos);
}

}  // namespace front_doors

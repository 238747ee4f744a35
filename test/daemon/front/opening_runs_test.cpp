// Runs that wait for the prompt and the resources with which they begin: their names, their places, those who follow
// them.
#include "test/daemon/front/opening_fixture.hpp"

#include <memory>
#include <string>
#include <string_view>
#include <vector>

using namespace mcpbx;
using namespace mcpbx::daemon::door;
using namespace mcpbx::daemon::run;
using namespace mcpbx::json;
using namespace mcpbx::test;

TEST_CASE("L18: a detached run that waits for what it begins with has its name, and is cancelled by it") {
  opening_fixture f;
  constexpr std::string_view request = R"({"run":"night","detach":true,"prompt":{"name":"s__p"}})";
  f.chat(request);
  REQUIRE(f.server->calls.size() == 1);
  // The name is taken, also for the same request.
  f.chat(request, 2);
  CHECK(contains(f.said(), R"("id":2,"error")"));
  CHECK(contains(f.said(), "is about to begin already by another request"));
  CHECK(f.server->calls.size() == 1);
  f.line.sent.clear();
  SUBCASE("mcpbx/cancel by its name") {
    f.line.say(R"({"jsonrpc":"2.0","id":8,"method":"mcpbx/cancel","params":{"run":"night"}})");
    f.turn();
    REQUIRE(f.line.sent.size() == 2);
    CHECK(contains(f.line.sent[0], R"("id":1,"error")"));
    CHECK(contains(f.line.sent[0], "the run was cancelled before it began"));
    CHECK(contains(f.line.sent[1], R"("id":8,"result":{})"));
  }
  SUBCASE("mcpbx/cancel by its request") {
    f.line.say(R"({"jsonrpc":"2.0","id":8,"method":"mcpbx/cancel","params":{"request":1}})");
    f.turn();
    CHECK(contains(f.said(), R"("id":8,"result":{})"));
  }
  SUBCASE("its caller leaves") {
    f.door.close();
    f.turn();
  }
  CHECK(f.server->cancelled.size() == 1);
  f.server->answer(0, go_prompt);
  f.turn();
  CHECK(f.backend.started.empty());
  if (f.line.closed) return;
  // The name is free again.
  f.chat(request, 3);
  REQUIRE(f.server->calls.size() == 2);
  f.server->answer(1, go_prompt);
  f.turn();
  REQUIRE(f.backend.started.size() == 1);
  CHECK(f.backend.started[0].run == "night");
  CHECK(f.backend.started[0].detach);
}

TEST_CASE("G18: detached runs that wait for what they begin with count among those of their connection") {
  front_door::options o;
  o.max_runs_per_caller = 2;
  opening_fixture f(o);
  constexpr std::string_view request = R"({"detach":true,"prompt":{"name":"s__p"}})";
  f.chat(request);
  f.chat(request, 2);
  CHECK(f.line.sent.empty());
  f.chat(request, 3);
  CHECK(contains(f.said(), R"("id":3,"error")"));
  CHECK(contains(f.said(), "this connection has 2 runs going already, 2 of them detached; wait for one of them"));
  f.chat(R"({"input":"go"})", 4);
  CHECK(contains(f.said(), R"("id":4,"error")"));
  CHECK(f.server->calls.size() == 2);
  // One that begins keeps its place, and one that cannot begin frees it.
  f.server->answer(0, go_prompt);
  f.turn();
  CHECK(f.backend.started.size() == 1);
  f.chat(request, 5);
  CHECK(contains(f.said(), R"("id":5,"error")"));
  f.server->answer_error(1, R"({"code":-32603,"message":"no"})");
  f.turn();
  f.chat(request, 6);
  CHECK(f.server->calls.size() == 3);
}

TEST_CASE("L18: mcpbx/attach follows a run that waits for what it begins with, into the run and to its end") {
  for (const std::string detach : {"", R"(,"detach":true)"}) {
    CAPTURE(detach);
    opening_fixture f;
    second_caller second(f);
    f.chat(R"({"run":"mine","prompt":{"name":"s__p"})" + detach + "}");
    second.say("1", "mcpbx/attach", R"({"run":"mine","answers":true})");
    CHECK(second.line.sent.empty());
    // It answers what the prompt needs, as it would in the run.
    std::vector<std::string> answers;
    f.server->calls.at(0).questions->ask({"s", "elicitation/create", raw_json::own(std::string(asking_fixture::form))},
                                         [&](mcp::rpc::call_outcome&& o) { answers.emplace_back(o.value.text()); });
    f.turn();
    REQUIRE(second.was_told(R"("question":"q_opening_1")"));
    second.say("2", "mcpbx/answer", R"({"run":"mine","question":"q_opening_1","action":"accept","content":{"a":"x"}})");
    CHECK(answers == std::vector<std::string>{R"({"action":"accept","content":{"a":"x"}})"});
    f.server->answer(0, go_prompt);
    f.turn();
    REQUIRE(f.backend.started.size() == 1);
    f.backend.feeds.at("mine")->push({run_event::kind::status, {}, {}, feed_event("{\"type\":\"status\"}")});
    f.backend.feeds.at("mine")->done(raw_json::literal(R"({"output":"done"})"));
    f.turn();
    CHECK(second.was_told(R"("seq":3,"type":"status")"));
    CHECK(second.was_told(R"("id":1,"result":{"output":"done"})"));
  }
}

TEST_CASE("L18: a run that cannot begin tells those who follow it, and no other may follow it") {
  struct end {
    void (*happens)(opening_fixture& f, second_caller& second);
    std::string_view why;
  };
  const end ends[] = {
      {[](opening_fixture& f, second_caller&) { f.server->answer_error(0, R"({"code":-32603,"message":"no index"})"); },
       "refused the prompt"},
      {[](opening_fixture& f, second_caller&) { f.line.events->on_closed({errc::unavailable, "left"}); },
       "the caller that was to begin the run cancelled it or left"},
      {[](opening_fixture& f, second_caller&) {
         f.line.say(R"({"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":1}})");
       },
       "the caller that was to begin the run cancelled it or left"},
      {[](opening_fixture&, second_caller& second) { second.say("2", "mcpbx/cancel", R"({"run":"mine"})"); },
       "the run was cancelled before it began"}};
  for (const auto& one : ends)
    for (const std::string detach : {"", R"(,"detach":true)"}) {
      CAPTURE(one.why);
      CAPTURE(detach);
      opening_fixture f;
      second_caller second(f);
      f.chat(R"({"run":"mine","prompt":{"name":"s__p"})" + detach + "}");
      second.say("1", "mcpbx/attach", R"({"run":"mine"})");
      one.happens(f, second);
      f.turn();
      CHECK(second.was_told(R"("id":1,"error")"));
      CHECK(second.was_told(one.why));
      f.server->answer(0, go_prompt);
      f.turn();
      CHECK(f.backend.started.empty());
      second.say("3", "mcpbx/attach", R"({"run":"mine"})");
      CHECK(second.was_told(R"("id":3,"error")"));
    }
}

TEST_CASE("L18: a reader that leaves a run which waits for what it begins with changes nothing for its caller") {
  opening_fixture f;
  second_caller second(f);
  f.chat(R"({"run":"mine","prompt":{"name":"s__p"}})");
  second.say("1", "mcpbx/attach", R"({"run":"mine"})");
  SUBCASE("by a cancelled request") {
    second.line.say(R"({"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":1}})");
  }
  SUBCASE("by closing") {
    second.line.events->on_closed({errc::unavailable, "left"});
  }
  f.turn();
  CHECK(f.server->cancelled.empty());
  f.server->answer(0, go_prompt);
  f.turn();
  CHECK(f.backend.started.size() == 1);
}

TEST_CASE("L18: a detached run whose name is taken while it waits sends those who follow it to the other one") {
  opening_fixture f;
  second_caller second(f);
  f.chat(R"({"run":"mine","detach":true,"prompt":{"name":"s__p"}})");
  second.say("1", "mcpbx/attach", R"({"run":"mine"})");
  f.backend.feeds.emplace("mine", std::make_shared<run_feed>("mine", run_feed::options{.keep = true}));
  f.server->answer(0, go_prompt);
  f.turn();
  CHECK(second.was_told("another request has begun the run \\\"mine\\\" meanwhile"));
}

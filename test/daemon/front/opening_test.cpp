// mcpbx/chat with a prompt and resources: they are fetched before the run begins, or it does not begin.
#include "test/daemon/front/opening_fixture.hpp"

#include <memory>
#include <string>
#include <vector>

using namespace mcpbx;
using namespace mcpbx::daemon::door;
using namespace mcpbx::daemon::policy;
using namespace mcpbx::daemon::run;
using namespace mcpbx::daemon::stored;
using namespace mcpbx::json;
using namespace mcpbx::test;

TEST_CASE("opening: prompt and resources are fetched together from their servers and then the run begins") {
  opening_fixture f;
  f.chat(R"({"input":"now","prompt":{"name":"s__p","arguments":{"a":"1"}},"resources":["x://b"]})");
  REQUIRE(f.server->calls.size() == 2);
  CHECK(f.server->calls[0].method == "prompts/get");
  CHECK(f.server->calls[0].params.text() == R"({"name":"p","arguments":{"a":"1"}})");
  CHECK(f.server->calls[0].scope);
  CHECK(f.server->calls[0].principal == "uid:1000");
  CHECK(f.server->calls[1].method == "resources/read");
  CHECK(f.server->calls[1].params.text() == R"({"uri":"x://b"})");
  f.server->answer(1, R"({"contents":[{"uri":"x://b","text":"bee"}]})");
  CHECK(f.backend.started.empty());
  f.server->answer(0, go_prompt);
  f.turn();
  REQUIRE(f.backend.started.size() == 1);
  const auto& r = f.backend.started[0];
  REQUIRE(r.messages.size() == 2);
  CHECK(r.messages[0]->text() == "Go.");
  CHECK(contains(r.messages[1]->text(), "x://b, read from the tool server \"s\""));
  CHECK(r.caller_scope == f.server->calls[0].scope);
}

TEST_CASE("opening: what nobody offers is an error before a run begins, after the wait for servers that start") {
  opening_fixture f;
  f.chat(R"({"prompt":{"name":"s__q"}})");
  CHECK(f.line.sent.empty());
  f.backend.settle();
  CHECK(contains(f.said(), R"(there is no prompt \"s__q\" (did you mean \"s__p\"?); `mcpbx prompts` lists them)"));
  CHECK(contains(f.said(), R"("cause":"not_found")"));
  f.chat(R"({"input":"q","resources":["x://a","y://"]})", 2);
  f.backend.settle();
  CHECK(contains(f.said(), R"(there is no resource \"y://\")"));
  CHECK(f.server->calls.empty());
  CHECK(f.backend.started.empty());
}

TEST_CASE("opening: a refusal of a server ends the request, and its other reads are cancelled") {
  opening_fixture f;
  f.chat(R"({"input":"q","resources":["x://a","x://b"]})");
  REQUIRE(f.server->calls.size() == 2);
  f.server->answer_error(0, R"({"code":-32603,"message":"no\u0007 such row"})");
  f.turn();
  CHECK(contains(f.said(), R"(the tool server \"s\" refused the resource \"x://a\": no such row)"));
  CHECK(f.server->cancelled.size() == 2);
  f.server->answer(1, R"({"contents":[]})");
  f.turn();
  CHECK(f.line.sent.size() == 1);
  CHECK(f.backend.started.empty());
}

TEST_CASE("opening: results above 16 MiB are refused") {
  opening_fixture f;
  f.chat(R"({"input":"q","resources":["x://a"]})");
  f.server->answer(0, R"({"contents":[{"uri":"x://a","text":")" + std::string(17u << 20, 'a') + "\"}]}");
  f.turn();
  CHECK(contains(f.said(), "the prompt and the resources have more than 16 MiB"));
  CHECK(f.backend.started.empty());
}

TEST_CASE("opening: a cancelled request and a caller that leaves cancel the reads and begin nothing") {
  opening_fixture f;
  f.chat(R"({"prompt":{"name":"s__p"}})");
  REQUIRE(f.server->calls.size() == 1);
  SUBCASE("cancelled") {
    f.line.say(R"({"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":1}})");
    f.turn();
  }
  SUBCASE("left") {
    f.door.close();
  }
  CHECK(f.server->cancelled.size() == 1);
  f.server->answer(0, go_prompt);
  f.turn();
  CHECK(f.backend.started.empty());
}

TEST_CASE("opening: a request that repeats a run fetches nothing again") {
  opening_fixture f;
  constexpr std::string_view request = R"({"run":"mine","prompt":{"name":"s__p"}})";
  f.chat(request);
  REQUIRE(f.server->calls.size() == 1);
  f.server->answer(0, go_prompt);
  f.turn();
  REQUIRE(f.backend.started.size() == 1);
  f.chat(request, 2);
  CHECK(f.server->calls.size() == 1);
}

TEST_CASE("opening: a caller that can be asked is asked for what a prompt needs, before its run begins") {
  std::vector<std::string> answers;
  opening_fixture f;
  f.line.say(
      R"({"jsonrpc":"2.0","id":"i","method":"initialize","params":{"protocolVersion":"2025-11-25","capabilities":{"elicitation":{}},"clientInfo":{"name":"t","version":"1"}}})");
  f.line.say(R"({"jsonrpc":"2.0","method":"notifications/initialized"})");
  f.turn();
  f.chat(R"({"prompt":{"name":"s__p"}})");
  REQUIRE(f.server->calls.size() == 1);
  const auto handler = f.server->calls[0].questions;
  REQUIRE(handler);
  f.line.sent.clear();
  const auto ask = [&] {
    return handler->ask({"s", "elicitation/create", raw_json::own(R"({"message":"m"})")},
                        [&](mcp::rpc::call_outcome&& o) { answers.emplace_back(o.value.text()); });
  };
  ask();
  f.turn();
  REQUIRE(contains(f.said(), R"("method":"elicitation/create")"));
  CHECK(contains(f.said(), R"("mcpbx/server":"s")"));
  const auto asked = id_in(f.said());
  f.line.say(R"({"jsonrpc":"2.0","id":)" + asked + R"(,"result":{"action":"accept","content":{}}})");
  f.turn();
  CHECK(answers == std::vector<std::string>{R"({"action":"accept","content":{}})"});
  // One that its server does not wait for any more is withdrawn from the caller.
  const auto second = ask();
  f.turn();
  handler->withdraw(second, "enough");
  f.turn();
  CHECK(contains(f.said(), "notifications/cancelled"));
  f.server->answer(0, go_prompt);
  f.turn();
  CHECK(f.backend.started.size() == 1);
  CHECK(answers.size() == 1);
}

TEST_CASE("opening: a question to a caller that is asked by a request ends with the time of the run's questions") {
  opening_fixture f;
  f.line.say(
      R"({"jsonrpc":"2.0","id":"i","method":"initialize","params":{"protocolVersion":"2025-11-25","capabilities":{"elicitation":{}},"clientInfo":{"name":"t","version":"1"}}})");
  f.line.say(R"({"jsonrpc":"2.0","method":"notifications/initialized"})");
  f.turn();
  f.chat(R"({"detach":true,"prompt":{"name":"s__p"},"limits":{"questionTimeoutMs":5000}})");
  REQUIRE(f.server->calls.size() == 1);
  std::vector<bool> failed;
  f.server->calls[0].questions->ask(
      {"s", "elicitation/create", raw_json::own(R"({"message":"m"})")},
      [&](mcp::rpc::call_outcome&& o) { failed.push_back(o.failure.code == errc::timed_out); });
  f.turn();
  REQUIRE(contains(f.said(), R"("method":"elicitation/create")"));
  f.time.advance(milliseconds(4999));
  f.turn();
  CHECK(failed.empty());
  f.time.advance(milliseconds(1));
  f.turn();
  CHECK(failed == std::vector<bool>{true});
  CHECK(contains(f.said(), "notifications/cancelled"));
}

TEST_CASE("L19: what a prompt needs to know before its run begins is a question of the run") {
  asking_fixture f;
  CHECK(contains(f.said(), R"("method":"mcpbx/event")"));
  CHECK(contains(f.said(), R"("run":"mine")"));
  CHECK(contains(f.said(), R"("type":"question")"));
  CHECK(contains(f.said(), R"("kind":"input")"));
  CHECK(contains(f.said(), R"("question":"q_opening_1")"));
  CHECK(contains(f.said(), R"("server":"s")"));
  CHECK(contains(f.said(), "Which?"));
  SUBCASE("which is answered as all others are, and then it begins") {
    f.answer(R"("question":"q_opening_1","action":"accept","content":{"b":1})");
    CHECK(contains(f.said(), R"("code":-32602)"));
    f.answer(R"("question":"another","action":"decline")");
    CHECK(contains(f.said(), "no question \\\"another\\\" is open in this run"));
    CHECK(f.answers.empty());
    f.line.sent.clear();
    f.answer(R"("question":"q_opening_1","action":"accept","content":{"a":"x"})");
    CHECK(f.answers == std::vector<std::string>{R"({"action":"accept","content":{"a":"x"}})"});
    CHECK(f.was_said(R"("type":"answer")"));
    CHECK(f.was_said(R"("id":7,"result":{})"));
    f.answer(R"("question":"q_opening_1","action":"decline")");
    CHECK(contains(f.said(), "was answered or has expired"));
    f.server->answer(0, go_prompt);
    f.turn();
    REQUIRE(f.backend.started.size() == 1);
    CHECK(f.backend.started[0].run == "mine");
    f.backend.feeds.at("mine")->push({run_event::kind::status, {}, {}, feed_event("{\"type\":\"status\"}")});
    f.backend.feeds.at("mine")->done(raw_json::literal(R"({"output":"done"})"));
    f.turn();
    CHECK(f.was_said(R"("seq":3,"type":"status")"));  // the numbers go on
    CHECK(contains(f.said(), R"("id":1,"result":{"output":"done"})"));
  }
  SUBCASE("which its server takes back") {
    f.handler->withdraw(f.ticket, "enough");
    f.turn();
    CHECK(contains(f.said(), R"("withdrawn":true)"));
    f.answer(R"("question":"q_opening_1","action":"decline")");
    CHECK(contains(f.said(), R"("error")"));
    CHECK(f.answers.empty());
  }
  SUBCASE("which nobody answers in time") {
    f.time.advance(milliseconds(24 * 3'600'000));
    f.turn();
    CHECK(f.answers == std::vector<std::string>{R"({"action":"cancel"})"});
    CHECK(f.was_said(R"("expired":true)"));
  }
  SUBCASE("which a failure of the server ends, with one sentence") {
    f.server->answer_error(0, R"({"code":-32603,"message":"no index"})");
    f.turn();
    CHECK(contains(f.said(), R"("id":1,"error")"));
    CHECK(contains(f.said(), "refused the prompt \\\"s__p\\\": no index"));
    CHECK(f.backend.started.empty());
  }
}

TEST_CASE("L18: a run that waits for what it begins with ends with its cancellation and with its caller") {
  asking_fixture f;
  SUBCASE("mcpbx/cancel by its name") {
    f.line.say(R"({"jsonrpc":"2.0","id":8,"method":"mcpbx/cancel","params":{"run":"mine"}})");
    f.turn();
    CHECK(f.was_said(R"("id":8,"result":{})"));
    CHECK(f.was_said("the run was cancelled before it began"));
  }
  SUBCASE("mcpbx/cancel by its request") {
    f.line.say(R"({"jsonrpc":"2.0","id":8,"method":"mcpbx/cancel","params":{"request":1}})");
    f.turn();
    CHECK(f.was_said(R"("id":8,"result":{})"));
    CHECK(f.was_said("the run was cancelled before it began"));
  }
  SUBCASE("notifications/cancelled") {
    f.line.say(R"({"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":1}})");
    f.turn();
  }
  SUBCASE("its caller leaves") {
    f.door.close();
    f.turn();
  }
  CHECK(f.server->cancelled.size() == 1);
  f.server->answer(0, go_prompt);
  f.turn();
  CHECK(f.backend.started.empty());
  if (!f.line.closed) f.answer(R"("question":"q_opening_1","action":"decline")");
  CHECK(f.answers.empty());
}

TEST_CASE("opening: a second request of a name takes no question from the run that is about to begin") {
  asking_fixture f;
  f.chat(R"({"run":"mine","answers":true,"prompt":{"name":"s__p"}})", 2);
  CHECK(contains(f.said(), R"("id":2,"error")"));
  CHECK(contains(f.said(), "is about to begin already by another request"));
  f.chat(R"({"run":"mine","input":"without a prompt"})", 3);
  CHECK(contains(f.said(), R"("id":3,"error")"));
  CHECK(f.backend.started.empty());
  CHECK(f.server->calls.size() == 1);
  f.answer(R"("question":"q_opening_1","action":"accept","content":{"a":"x"})");
  CHECK(f.answers.size() == 1);
  f.server->answer(0, go_prompt);
  f.turn();
  CHECK(f.backend.started.size() == 1);
  // A beginning that is over holds no name.
  f.backend.feeds.at("mine")->done(raw_json::literal(R"({"output":"done"})"));
  f.backend.feeds.clear();
  f.turn();
  f.chat(R"({"run":"mine","answers":true,"prompt":{"name":"s__p"}})", 4);
  CHECK(f.server->calls.size() == 2);
}

TEST_CASE("opening: what is said to a run that has begun by another door goes to none that waits under its name") {
  asking_fixture f;
  f.backend.feeds.emplace("mine", std::make_shared<run_feed>("mine", run_feed::options{}));
  f.answer(R"("question":"q_opening_1","action":"decline")");
  CHECK(f.answers.empty());
  REQUIRE(f.backend.answers.size() == 1);
  f.backend.answered({});
  f.line.say(R"({"jsonrpc":"2.0","id":8,"method":"mcpbx/cancel","params":{"run":"mine"}})");
  f.turn();
  CHECK(f.backend.cancelled == std::vector<std::string>{"mine"});
  f.backend.feeds.clear();
  f.answer(R"("question":"q_opening_1","action":"decline")");
  CHECK(f.answers.size() == 1);
}

TEST_CASE("opening: a question that nobody can answer is declined, and the error says who could") {
  std::string answer;
  opening_fixture f;
  f.chat(R"({"prompt":{"name":"s__p"}})");
  f.server->calls.at(0).questions->ask({"s", "elicitation/create", raw_json::own(R"({"message":"m"})")},
                                       [&](mcp::rpc::call_outcome&& o) { answer = o.value.text(); });
  CHECK(answer.empty());
  f.turn();
  CHECK(answer == R"({"action":"decline"})");
  f.server->answer_error(0, R"({"code":-32602,"message":"no style was given"})");
  f.turn();
  CHECK(contains(f.said(),
                 "no style was given; it asked its caller for input (elicitation/create), and nobody here answers: "
                 "`mcpbx ask` at a terminal or with --input does"));
  CHECK(f.backend.started.empty());
}

TEST_CASE("opening: a question of an extension goes to a caller that lists it, and is no request for a model's words") {
  for (const bool listed : {true, false}) {
    CAPTURE(listed);
    std::string answer;
    opening_fixture f;
    f.line.say(R"({"jsonrpc":"2.0","id":"i","method":"initialize","params":{"protocolVersion":"2025-11-25",)"
               R"("capabilities":{"extensions":{)" +
               std::string(listed ? R"("com.example/find":{})" : "") +
               R"(}},"clientInfo":{"name":"t","version":"1"}}})");
    f.line.say(R"({"jsonrpc":"2.0","method":"notifications/initialized"})");
    f.turn();
    f.chat(R"({"prompt":{"name":"s__p"}})");
    f.server->calls.at(0).questions->ask({"s", "find/which", raw_json::own("{}"), {}, {"com.example/find"}},
                                         [&](mcp::rpc::call_outcome&& o) { answer = o.value.text(); });
    f.turn();
    CHECK(contains(f.said(), R"("method":"find/which")") == listed);
    if (listed) f.line.say(R"({"jsonrpc":"2.0","id":)" + id_in(f.said()) + R"(,"result":{"one":1.0}})");
    f.turn();
    CHECK(contains(answer, listed ? R"({"one":1.0})" : "-32601"));
    f.server->answer_error(0, R"({"code":-32602,"message":"no"})");
    f.turn();
    CHECK(contains(f.said(), "an answer to a method of an extension (find/which)") != listed);
  }
}

TEST_CASE("G41: a run of a tool server begins with no prompt or resource that needs a yes of the user") {
  front_door::options o;
  o.approvals = [] {
    approval_rules rules;
    rules.entries =
        std::make_shared<const std::vector<server_terms>>(std::vector<server_terms>{{"s", {}, {}, {"x://a"}}});
    return rules;
  };
  opening_fixture server(std::move(o), "s");
  server.chat(R"({"input":"now","resources":["x://a"]})");
  CHECK(contains(server.said(), "needs a yes of the user, so a tool server may not read it by itself"));
  CHECK(server.server->calls.empty());
  server.chat(R"({"input":"now","resources":["x://b"]})", 2);
  CHECK(server.server->calls.size() == 1);
}

TEST_CASE("G41: a tool server uses no methods of extensions, which no approval could hold for") {
  for (const std::string of : {"s", ""}) {
    opening_fixture f({}, of);
    f.line.say(R"({"jsonrpc":"2.0","id":1,"method":"initialize","params":{"protocolVersion":"2025-11-25",)"
               R"("capabilities":{"extensions":{"com.example/find":{}}},"clientInfo":{"name":"c","version":"1"}}})");
    f.backend.settle();
    f.turn();
    CHECK(contains(f.said(), "io.modelcontextprotocol/ui"));
    CHECK(contains(f.said(), "com.example/find") == of.empty());
    f.line.say(R"({"jsonrpc":"2.0","id":2,"method":"find/text"})");
    f.turn();
    CHECK(contains(f.said(), of.empty() ? "no tool server that is there lists the extension"
                                        : "is one of an extension, which a tool server may not use by itself"));
    CHECK(f.server->calls.empty());
  }
}

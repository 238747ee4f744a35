// Every order of events in runs of up to three rounds of up to three calls, with a cancel, a time-out, an error or a
// failing store at each step, and recovery from a crash after any record.
#include "conf/model/key_values.hpp"
#include "providers/wire/registry/registry.hpp"
#include "test/daemon/loop/core/order_explorer.hpp"
#include "test/support/sanitized.hpp"

#include <doctest/doctest.h>

#include <algorithm>
#include <string>
#include <variant>
#include <vector>

using namespace mcpbx;
using namespace mcpbx::daemon::core;
using namespace mcpbx::daemon::stored;
using namespace mcpbx::daemon::test;
using namespace mcpbx::json;

namespace {

run_limits with(int rounds, int concurrency, tool_error_policy errors = tool_error_policy::go_on) {
  run_limits l;
  l.max_rounds = rounds;
  l.tool_concurrency = concurrency;
  l.on_tool_error = errors;
  return l;
}

// Explores all orders and checks that at least `least_ends` runs ended. Sanitizers make this ten times as slow; with
// two calls a round they still see each step of the state machine.
order_explorer everywhere(order_explorer e, std::size_t least_ends) {
  if (mcpbx::test::sanitized) e.calls = std::min<std::size_t>(e.calls, 2);
  e.explore();
  INFO(e.steps << " steps, " << e.meetings << " meetings, " << e.ends << " ends, " << e.histories() << " histories");
  CHECK(e.ends >= (mcpbx::test::sanitized ? 1 : least_ends));
  return e;
}

}  // namespace

TEST_CASE(
    "L1 L18: every order of three rounds of up to three calls has one result per call, one end, a valid history") {
  for (int concurrency : {1, 2, 3}) {
    CAPTURE(concurrency);
    order_explorer e;
    e.limits = with(10, concurrency);
    e = everywhere(e, 1000);
    for (auto reason : {stop_reason::final, stop_reason::consecutive_errors, stop_reason::timeout,
                        stop_reason::truncated, stop_reason::cancelled, stop_reason::provider_error,
                        stop_reason::context_full, stop_reason::store_error, stop_reason::interrupted})
      CHECK(e.reasons[reason] > 0);
  }
}

TEST_CASE("L9: every order of three rounds of up to three calls of a run that stops at the first failure") {
  for (int concurrency : {1, 2, 3}) {
    CAPTURE(concurrency);
    order_explorer e;
    e.limits = with(10, concurrency, tool_error_policy::stop);
    CHECK(everywhere(e, 1000).reasons[stop_reason::tool_error] > 0);
  }
}

TEST_CASE("L5: every order of three rounds where rounds run out, before an answer without tools or at once") {
  for (int rounds : {0, 1, 2, 3})
    for (auto at_limit : {limit_policy::synthesize, limit_policy::stop}) {
      CAPTURE(rounds);
      order_explorer e;
      e.limits = with(rounds, 2);
      e.limits.on_limit = at_limit;
      CHECK(everywhere(e, 100).reasons[stop_reason::max_rounds] > 0);
    }
}

TEST_CASE("L8: every order of three rounds where tokens or calls run out") {
  order_explorer tokens;
  tokens.limits = with(10, 3);
  tokens.limits.token_budget = 31;
  CHECK(everywhere(tokens, 1000).reasons[stop_reason::token_budget] > 0);
  order_explorer budget;
  budget.limits = with(10, 2);
  budget.limits.max_calls = 3;
  budget.limits.max_calls_per_round = 2;
  budget.counted = true;
  budget.rounds = 2;
  CHECK(everywhere(budget, 1000).reasons[stop_reason::call_budget] > 0);
}

TEST_CASE("L19 L21: every order of rounds with questions and the caller's own tools") {
  for (int concurrency : {1, 3})
    for (auto errors : {tool_error_policy::go_on, tool_error_policy::stop}) {
      CAPTURE(concurrency);
      order_explorer e;
      e.limits = with(10, concurrency, errors);
      e.people = true;
      e = everywhere(e, 1000);
      for (auto reason :
           {stop_reason::final, stop_reason::needs_approval, stop_reason::cancelled, stop_reason::store_error})
        CHECK(e.reasons[reason] > 0);
    }
}

TEST_CASE("L12 L13: every order of calls that run one after another or are made again") {
  for (bool people : {false, true}) {
    order_explorer e;
    e.limits = with(10, 3);
    e.serial = true;
    e.people = people;
    everywhere(e, 1000);
  }
  for (std::size_t calls : {2, 3}) {
    order_explorer e;
    e.limits = with(10, 3);
    e.again = true;
    e.calls = calls;
    e.rounds = calls == 2 ? 3 : 1;
    everywhere(e, 1000);
  }
}

TEST_CASE("L23: every order of two rounds before an answer that may have to be put right") {
  order_explorer e;
  e.limits = with(10, 2);
  e.rounds = 2;
  e.calls = 2;
  e.answer_schema = raw_json::literal(R"({"type":"object"})");
  everywhere(e, 1000);
}

TEST_CASE("G24: a crash at any record of any order is recovered from, also in the middle of recovery") {
  for (bool people : {false, true})
    for (auto errors : {tool_error_policy::go_on, tool_error_policy::stop}) {
      order_explorer e;
      e.limits = with(2, errors == tool_error_policy::stop ? 1 : 2, errors);
      e.people = people;
      e.rounds = 2;
      e.calls = people ? 2 : 3;
      e.crash_every = mcpbx::test::sanitized ? 29 : 7;
      everywhere(e, 500);
    }
}

TEST_CASE("every API that has a codec is one whose demands histories are held against") {
  std::size_t judged = 0;
  for (const auto api : conf::loop::words_of<conf::model::model_api>) {
    if (providers::registry::find_codec(api) == nullptr) continue;
    ++judged;
    CHECK(fault_of_body(api, R"({"messages":[{"role":"user","content":"go"}],"contents":[],"input":[]})") == "");
  }
  CHECK(judged > 0);
}

TEST_CASE("what an API would refuse is found in a history") {
  const auto with_messages = [](std::string_view more) {
    return fault_of_body("openai-chat", R"({"messages":[{"role":"user","content":"go"})" + std::string(more) + "]}");
  };
  const std::string two =
      R"(,{"role":"assistant","content":"","tool_calls":[{"id":"a","type":"function","function":{"name":"x","arguments":"{}"}},)"
      R"({"id":"b","type":"function","function":{"name":"x","arguments":"{}"}}]})";
  const std::string a = R"(,{"role":"tool","tool_call_id":"a","content":""})";
  const std::string b = R"(,{"role":"tool","tool_call_id":"b","content":""})";
  const std::string user = R"(,{"role":"user","content":"more"})";
  CHECK(with_messages(two + b + a + user) == "");
  CHECK(with_messages(two + a) == "no result of b");
  CHECK(with_messages(two + a + user) == "a message before the result of b");
  CHECK(with_messages(two + a + a) == "a result that no call waits for");
  CHECK(with_messages(two + a + b + two + a + b) == "an id that is empty or used twice");
  CHECK(with_messages(R"(,{"role":"assistant","content":""})") == "an empty message");
  CHECK(with_messages(R"(,{"role":"system","content":"x"})") == "a system message in the middle");
  const auto anthropic = [](std::string_view more) {
    return fault_of_body("anthropic",
                         R"({"tools":[],"messages":[{"role":"user","content":"go"})" + std::string(more) + "]}");
  };
  const std::string use = R"(,{"role":"assistant","content":[{"type":"tool_use","id":"a","name":"x","input":{}}]})";
  const std::string result = R"({"type":"tool_result","tool_use_id":"a"})", said = R"({"type":"text","text":"t"})";
  CHECK(anthropic(use + R"(,{"role":"user","content":[)" + result + "," + said + "]}") == "");
  CHECK(anthropic(use + R"(,{"role":"user","content":[)" + said + "," + result + "]}") ==
        "a result behind something else");
  CHECK(anthropic(use + R"(,{"role":"user","content":[)" + said + "]}") == "no result of a");
  CHECK(fault_of_body("anthropic", R"({"messages":[{"role":"user","content":"go"})" + use +
                                       R"(,{"role":"user","content":[)" + result + "]}]}") ==
        "calls where no tools are defined");
  CHECK(anthropic(R"(,{"role":"user","content":[{"type":"text","text":""}]})") == "a blank text");
  CHECK(anthropic(R"(,{"role":"assistant","content":[{"type":"text","text":" \n"}]})") == "a blank text");
  CHECK(anthropic(use + R"(,{"role":"user","content":[{"type":"tool_result","tool_use_id":"a","is_error":true}]})") ==
        "an error without content");
  CHECK(anthropic(R"(,{"role":"assistant","content":[{"type":"tool_use","id":"a","name":"a.b","input":{}}]})") ==
        "a call with a name that is refused");
  const auto responses = [](std::string_view items) {
    return fault_of_body("openai-responses", R"({"store":false,"input":[)" + std::string(items) + "]}");
  };
  const std::string call = R"({"type":"function_call","call_id":"a","name":"x","arguments":"{}"})";
  CHECK(responses(R"({"type":"function_call","call_id":"a","name":"x ","arguments":"{}"})") ==
        "a call with a name that is refused");
  const auto gemini = [](std::string_view answered) {
    return fault_of_body("gemini", R"({"contents":[{"role":"model","parts":[{"functionCall":{"name":"x","args":{}}}]},)"
                                   R"({"role":"user","parts":[{"functionResponse":{"name":")" +
                                       std::string(answered) + R"(","response":{}}}]}]})");
  };
  CHECK(gemini("x") == "");
  CHECK(gemini("y") == "a result of another name than its call");
  const std::string output = R"({"type":"function_call_output","call_id":"a","output":""})";
  const std::string question = R"({"type":"message","role":"user","content":"q"})";
  CHECK(responses(question + "," + call + "," + output) == "");
  CHECK(responses(call + "," + question) == "a message before the result of a");
  CHECK(responses(R"({"type":"reasoning"},)" + question) == "reasoning without the item behind it");
  CHECK(fault_of_body("telepathy", "{}") == "the API telepathy has a codec and no judge here");
}

TEST_CASE("G24: after a crash open calls are closed as interrupted and the run ends") {
  script s;
  s.model(reply("", {call("a"), call("b")}));
  s.answer(answered("b"));
  const auto rest = fold(s.records, s.records.size()).recovery();
  CHECK(print_all(rest).size() == 3);
  REQUIRE(std::holds_alternative<record::cancel>(rest[0]));
  const auto& closed = std::get<record::call_result>(rest[1]);
  CHECK(closed.call_id == "a");
  CHECK(closed.cause == record::result_cause::interrupted);
  CHECK(std::get<record::run_ended>(rest[2]).reason == stop_reason::interrupted);

  // A failed journal ends the run with store_error and closes its open calls as a crash does.
  const auto lost =
      fold(s.records, s.records.size()).recovery({stop_reason::store_error, "the run's journal could not be written"});
  REQUIRE(lost.size() == 3);
  CHECK(std::get<record::call_result>(lost[1]).cause == record::result_cause::interrupted);
  CHECK(std::get<record::call_result>(lost[1]).result.text() == closed.result.text());
  CHECK(std::get<record::run_ended>(lost[2]).reason == stop_reason::store_error);
}

TEST_CASE("G24: a run whose end was decided ends that way after a crash") {
  script s;
  s.model(reply("hello"));
  const auto rest = fold(s.records, s.records.size() - 1).recovery();
  REQUIRE(rest.size() == 1);
  CHECK(std::get<record::run_ended>(rest[0]).reason == stop_reason::final);
  CHECK(fold(s.records, s.records.size()).recovery().empty());
  CHECK(run_core().recovery().empty());
}

TEST_CASE("L18 L19: every order of a round of up to two calls whose servers ask people questions") {
  for (int concurrency : {1, 2}) {
    CAPTURE(concurrency);
    order_explorer e;
    e.limits = with(10, concurrency);
    e.rounds = 1;
    e.calls = 2;
    e.asking = true;
    CHECK(everywhere(e, 100).reasons[stop_reason::final] > 0);
  }
}

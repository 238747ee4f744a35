// State machine of a run, by the promises L1 and following of docs/requirements.md.
#include "daemon/loop/core/run_core.hpp"

#include "daemon/loop/json/event_json.hpp"
#include "test/daemon/loop/core/core_script.hpp"

#include <doctest/doctest.h>

#include <algorithm>
#include <cstdint>

using namespace mcpbx;
using namespace mcpbx::daemon::core;
using namespace mcpbx::daemon::stored;
using namespace mcpbx::daemon::test;
using namespace mcpbx::json;
using mcpbx::providers::end_reason;

namespace {

run_limits limits_of(int max_rounds, limit_policy at_limit = limit_policy::synthesize) {
  run_limits l;
  l.max_rounds = max_rounds;
  l.on_limit = at_limit;
  return l;
}

const providers::tool_result_block& result_block(const run_core& core, std::size_t message, std::size_t block) {
  return std::get<providers::tool_result_block>(core.facts().messages.at(message)->blocks.at(block));
}

std::string result_text(const run_core& core, std::size_t message, std::size_t block) {
  return std::string(result_block(core, message, block).result.text());
}

}  // namespace

TEST_CASE("L1: a reply without calls is the base case") {
  script s;
  CHECK(s.started.at(0) == lines{"begin_round 0"});
  s.settle();
  CHECK(s.started.at(1) == lines{"call_model 0"});
  s.model(reply("hello"));
  CHECK(s.started.at(2) == lines{"end final"});
  CHECK(s.core.facts().ended);
  CHECK(s.core.facts().answer.reason == stop_reason::final);
  CHECK(s.core.facts().answer.reason_text.empty());
  CHECK(*s.core.facts().answer.text == "hello");
  CHECK(s.core.facts().rounds == 1);
  CHECK(s.core.facts().messages.size() == 3);
}

TEST_CASE("L1: the last result of a level opens the next one") {
  script s;
  s.model(reply("", {call("a")}));
  CHECK(s.started.at(2) == lines{"intend_calls a"});
  CHECK(s.started.at(3) == lines{"run_call a"});
  s.answer(answered("a"));
  CHECK(s.started.at(4) == lines{"begin_round 1"});
  CHECK(s.core.facts().depth == 1);
  s.model(reply("done"));
  CHECK(s.core.facts().answer.reason == stop_reason::final);
  CHECK(s.core.facts().rounds == 2);
  CHECK(fault_of(s.core.facts().messages) == "");
}

TEST_CASE("L3: history keeps its order and text beside calls") {
  script s;
  s.model(reply("let me see", {call("a"), call("b")}));
  s.answer(answered("b", "second")).answer(answered("a", "first"));
  s.model(reply("done"));
  const auto& m = s.core.facts().messages;
  REQUIRE(m.size() == 5);
  CHECK(m[2]->text() == "let me see");
  CHECK(m[2] == std::get<record::assistant>(s.records[2]).message);  // the same object as in the record
  CHECK(result_block(s.core, 3, 0).call_id == "a");
  CHECK(result_block(s.core, 3, 1).call_id == "b");
  CHECK(result_block(s.core, 3, 0).name == "lookup");
  CHECK(contains(result_text(s.core, 3, 0), "first"));
}

TEST_CASE("L4: a thousand levels share their messages and copy none") {
  script s([] {
    auto l = limits_of(2000);
    l.max_calls = 5000;
    return l;
  }());
  s.settle();
  std::vector<providers::message_ptr> earlier;
  for (int depth = 0; depth < 1000; ++depth) {
    const auto id = "c" + std::to_string(depth);
    s.model(reply("", {call(id)})).answer(answered(id));
    earlier.push_back(s.core.facts().messages.back());
    REQUIRE(s.core.facts().messages.size() == 4 + 2 * static_cast<std::size_t>(depth));
  }
  s.model(reply("at last"));
  CHECK(s.core.facts().answer.reason == stop_reason::final);
  CHECK(s.core.facts().rounds == 1001);
  for (std::size_t i = 0; i < earlier.size(); ++i) REQUIRE(s.core.facts().messages[3 + 2 * i] == earlier[i]);
  CHECK(fault_of(s.core.facts().messages) == "");
}

TEST_CASE("L5: after the last round one call without tools is made") {
  script s(limits_of(2));
  s.model(reply("", {call("a")})).answer(answered("a"));
  s.model(reply("", {call("b")})).answer(answered("b"));
  CHECK(s.started.back() == lines{"call_model 2 without tools"});
  s.model(reply("what I know"));
  CHECK(s.core.facts().answer.reason == stop_reason::max_rounds);
  CHECK(*s.core.facts().answer.text == "what I know");
  CHECK(s.core.facts().rounds == 3);
  CHECK(contains(s.core.facts().answer.reason_text, "limit of 2 rounds"));
  CHECK_FALSE(contains(s.core.facts().answer.reason_text, "Unable"));
}

TEST_CASE("L5: onLimit stop ends without another model call") {
  script s(limits_of(1, limit_policy::stop));
  s.model(reply("", {call("a")})).answer(answered("a"));
  CHECK(s.core.facts().answer.reason == stop_reason::max_rounds);
  CHECK(s.core.facts().rounds == 1);
  CHECK(s.core.facts().answer.reason_text == "Unable to complete task: the limit of 1 round was reached.");
}

TEST_CASE("L5: a call in the last reply is not executed and has its result") {
  script s(limits_of(1));
  s.model(reply("", {call("a")})).answer(answered("a"));
  s.model(reply("", {call("b")}));
  CHECK(s.running.empty());
  CHECK(s.core.facts().answer.reason == stop_reason::max_rounds);
  CHECK(fault_of(s.core.facts().messages) == "");
  CHECK(contains(result_text(s.core, 5, 0), "no tools are offered"));
  CHECK(contains(s.core.facts().answer.reason_text, "Unable to complete task"));
}

TEST_CASE("L4: with no rounds at all the model answers without tools and that is final") {
  script s(limits_of(0));
  CHECK(s.started.at(0) == lines{"begin_round 0 without tools"});
  s.model(reply("plain"));
  CHECK(s.core.facts().answer.reason == stop_reason::final);
}

TEST_CASE("L8: more calls than a reply may have get an error result each") {
  run_limits l;
  l.max_calls_per_round = 2;
  script s(l);
  s.model(reply("", {call("a"), call("b"), call("c"), call("d")}));
  CHECK(s.started.at(2).front() == "close_call c too_many_calls");
  s.answer(answered("a")).answer(answered("b"));
  CHECK(contains(result_text(s.core, 3, 2), "at most 2 calls"));
  CHECK(result_block(s.core, 3, 3).is_error);
  CHECK_FALSE(s.core.facts().ended);
}

TEST_CASE("G32: of a thousand calls in one reply 64 are run and each has one result") {
  script s;
  std::vector<providers::tool_call_block> calls;
  for (int i = 0; i < 1000; ++i) calls.push_back(call("c" + std::to_string(i)));
  s.model(reply("", std::move(calls)));
  std::size_t ran = 0;
  while (!s.running.empty()) {
    CHECK(s.running.size() <= 8);
    s.answer(answered(s.running.front()));
    ++ran;
  }
  CHECK(ran == 64);
  CHECK(s.core.facts().messages.back()->blocks.size() == 1000);
  CHECK(fault_of(s.core.facts().messages) == "");
}

TEST_CASE("L8: the call budget leads to a last call without tools") {
  run_limits l;
  l.max_calls = 2;
  script s(l);
  s.model(reply("", {call("a")})).answer(answered("a"));
  s.model(reply("", {call("b"), call("c")})).answer(answered("b"));
  CHECK(contains(result_text(s.core, 5, 1), "budget of 2 calls"));
  CHECK(s.started.back() == lines{"call_model 2 without tools"});
  s.model(reply("so far"));
  CHECK(s.core.facts().answer.reason == stop_reason::call_budget);
}

TEST_CASE("L8: calls are not run once the token budget is used up") {
  run_limits l;
  l.token_budget = 30;
  script s(l);
  s.model(reply("", {call("a")})).answer(answered("a"));
  s.model(reply("", {call("b")}));
  CHECK(s.running.empty());
  CHECK(s.core.facts().answer.reason == stop_reason::token_budget);
  CHECK(contains(s.core.facts().answer.reason_text, "30 tokens"));
  CHECK(fault_of(s.core.facts().messages) == "");
}

TEST_CASE("L8: time up closes what is open with the reason timeout") {
  script s;
  s.model(reply("", {call("a")}));
  s.cancel(stop_reason::timeout, "the time limit of 120 s for the run was reached");
  CHECK(s.core.facts().answer.reason == stop_reason::timeout);
  CHECK(contains(s.core.facts().answer.reason_text, "120 s"));
  CHECK(std::get<record::call_result>(s.records[s.records.size() - 2]).cause == record::result_cause::timed_out);
  CHECK(fault_of(s.core.facts().messages) == "");
}

TEST_CASE("L8: the same call more than three times in a row is not run again") {
  script s;
  for (int i = 0; i < 3; ++i) {
    const auto id = "c" + std::to_string(i);
    s.model(reply("", {call(id, "lookup", R"({"q":1})")})).answer(answered(id));
  }
  s.model(reply("", {call("c3", "lookup", R"({"q":1})")}));
  CHECK(s.running.empty());
  CHECK(s.started.back() == lines{"call_model 4 without tools"});
  s.model(reply("enough"));
  CHECK(s.core.facts().answer.reason == stop_reason::repeated_calls);
}

TEST_CASE("L8: the same call in other bytes is the same call") {
  script s;
  const char* spellings[] = {R"({"q":1,"at":"\u00e9"})", R"({ "q": 1, "at": "é" })", R"({"at":"é","q":1})",
                             R"({"at" : "é" , "q" : 1})"};
  for (int i = 0; i < 3; ++i) {
    const auto id = "c" + std::to_string(i);
    s.model(reply("", {call(id, "lookup", spellings[i])})).answer(answered(id));
  }
  s.model(reply("", {call("c3", "lookup", spellings[3])}));
  CHECK(s.running.empty());
  s.model(reply("enough"));
  CHECK(s.core.facts().answer.reason == stop_reason::repeated_calls);
}

TEST_CASE("L8: another value in the arguments makes another call") {
  script s;
  const char* values[] = {R"({"q":1})", R"({"q":2})", R"({"q":"1"})", R"({"q":[1]})", R"({"Q":1})", R"({})"};
  int n = 0;
  for (const auto* value : values) {
    const auto id = "c" + std::to_string(n++);
    s.model(reply("", {call(id, "lookup", value)})).answer(answered(id));
  }
  CHECK_FALSE(s.core.ending());
}

TEST_CASE("L8: another call in between makes a call no repetition") {
  script s;
  for (int i = 0; i < 8; ++i) {
    const auto id = "c" + std::to_string(i);
    s.model(reply("", {call(id, "lookup", i % 3 == 2 ? R"({"q":2})" : R"({"q":1})")})).answer(answered(id));
  }
  CHECK_FALSE(s.core.ending());
}

TEST_CASE("L9: a tool error goes back to the model and the run goes on") {
  script s;
  s.model(reply("", {call("a")})).answer(failed("a", "no such user"));
  CHECK(result_block(s.core, 3, 0).is_error);
  CHECK(contains(result_text(s.core, 3, 0), "no such user"));
  s.model(reply("there is no such user"));
  CHECK(s.core.facts().answer.reason == stop_reason::final);
}

TEST_CASE("L9: three failing rounds in a row end the run") {
  script s;
  for (int i = 0; i < 3; ++i) {
    const auto id = "c" + std::to_string(i);
    s.model(reply("", {call(id)})).answer(failed(id));
  }
  CHECK(s.core.facts().answer.reason == stop_reason::consecutive_errors);
  CHECK(s.core.facts().answer.reason_text == "Unable to complete task: the tool calls of 3 rounds in a row failed.");
  CHECK(fault_of(s.core.facts().messages) == "");
}

TEST_CASE("L9: one success resets the count of failing rounds") {
  script s;
  for (int i = 0; i < 9; ++i) {
    const auto a = "a" + std::to_string(i), b = "b" + std::to_string(i);
    s.model(reply("", {call(a), call(b)})).answer(failed(a)).answer(i % 3 == 2 ? answered(b) : failed(b));
  }
  CHECK_FALSE(s.core.ending());
}

TEST_CASE("L9: onToolError stop lets running calls finish and begins nothing new") {
  run_limits l;
  l.on_tool_error = tool_error_policy::stop;
  l.tool_concurrency = 2;
  script s(l);
  s.model(reply("", {call("a"), call("b"), call("c")}));
  s.answer(failed("a"));
  CHECK(s.running == std::vector<std::string>{"b"});
  CHECK_FALSE(s.core.facts().ended);
  s.answer(answered("b"));
  CHECK(s.core.facts().answer.reason == stop_reason::tool_error);
  CHECK(contains(result_text(s.core, 3, 2), "Not executed"));
  CHECK(contains(s.core.facts().answer.reason_text, "\"lookup\" failed"));
}

TEST_CASE("L9: onToolError stop also ends after the last result of a level") {
  run_limits l;
  l.on_tool_error = tool_error_policy::stop;
  script s(l);
  s.model(reply("", {call("a"), call("b")}));
  s.answer(answered("a")).answer(failed("b"));
  CHECK(s.core.facts().answer.reason == stop_reason::tool_error);
}

TEST_CASE("L9 G24: records in which an older mcpbx began a call behind a failure fold as they did") {
  run_limits l;
  l.on_tool_error = tool_error_policy::stop;
  auto bad = call("a");
  bad.arguments = {};
  bad.problem = "the JSON ends in the middle of an object";
  script s(l);
  s.take(record::round_started{0, "m", true, 0});
  s.take(reply("", {bad, call("b")}));
  CHECK(s.started.back() == lines{"close_call a bad_arguments", "intend_calls b"});
  s.take(failed("a"));
  CHECK(s.started.back().empty());
  record::call_intent begun;
  begun.call_id = "b";
  s.take(begun);
  CHECK(s.started.back() == lines{"run_call b"});
  s.take(answered("b"));
  CHECK(s.started.back() == lines{"end tool_error"});
}

TEST_CASE("L10: arguments that cannot be read become an error result with the reason") {
  script s;
  auto bad = call("a");
  bad.arguments = {};
  bad.arguments_text = "{\"x\":";
  bad.problem = "the JSON ends in the middle of an object";
  auto list = call("b", "lookup", "[1]");
  s.model(reply("", {bad, list, call("c")}));
  CHECK(s.running == std::vector<std::string>{"c"});
  s.answer(answered("c"));
  CHECK(contains(result_text(s.core, 3, 0), "ends in the middle"));
  CHECK(contains(result_text(s.core, 3, 1), "no JSON object"));
  CHECK_FALSE(s.core.facts().ended);
}

TEST_CASE("L10: a problem that says what to do is told the model as it is, and nothing that contradicts it") {
  script s;
  auto bad = call("a", "unreadable");
  bad.arguments = {};
  bad.problem = "The tool call could not be read (it has no name), so no tool was run. Write it again.";
  s.model(reply("", {bad}));
  CHECK(contains(result_text(s.core, 3, 0), "Not executed. " + bad.problem));
  CHECK_FALSE(contains(result_text(s.core, 3, 0), "one JSON object"));
  CHECK_FALSE(contains(result_text(s.core, 3, 0), ".."));
}

TEST_CASE("L10: an unknown tool is refused without an intent and counts as an error") {
  script s;
  for (int i = 0; i < 3; ++i) s.model(reply("", {call("c" + std::to_string(i), "unknown")}));
  CHECK(s.core.facts().answer.reason == stop_reason::consecutive_errors);
  CHECK(std::ranges::none_of(s.records, [](const auto& r) { return std::holds_alternative<record::call_intent>(r); }));
}

TEST_CASE("L11: a failed model call ends the run with the provider's sentence") {
  providers::model_error e;
  e.message = "the model \"m\" answered with status 500";
  script s;
  s.fails(e);
  CHECK(s.core.facts().answer.reason == stop_reason::provider_error);
  CHECK(s.core.facts().answer.reason_text == "Unable to complete task: the model \"m\" answered with status 500.");
  CHECK(*s.core.facts().answer.text == "");

  e.type = providers::model_error::kind::context_full;
  CHECK(script().fails(e).core.facts().answer.reason == stop_reason::context_full);
  e.type = providers::model_error::kind::time_limit;
  CHECK(script().fails(e).core.facts().answer.reason == stop_reason::timeout);
}

TEST_CASE("L11: refusals and filters end the run as refused") {
  CHECK(script().model(reply("no", {}, end_reason::refusal)).core.facts().answer.reason == stop_reason::refused);
  CHECK(script().model(reply("", {}, end_reason::filter)).core.facts().answer.reason == stop_reason::refused);
  auto with_block = reply("");
  auto m = std::make_shared<providers::message>();
  m->role = providers::role::assistant;
  m->blocks.emplace_back(providers::refusal_block{"I will not do that"});
  with_block.message = m;
  script s;
  s.model(with_block);
  CHECK(s.core.facts().answer.reason == stop_reason::refused);
  CHECK(contains(s.core.facts().answer.reason_text, "I will not do that"));
}

TEST_CASE("L11: a cut answer ends the run as truncated") {
  script s;
  s.model(reply("half an ans", {}, end_reason::length));
  CHECK(s.core.facts().answer.reason == stop_reason::truncated);
  CHECK(*s.core.facts().answer.text == "half an ans");
}

TEST_CASE("L11: a reply that filled the context keeps its text and is truncated, without text the context is full") {
  script s;
  s.model(reply("half an ans", {}, end_reason::context_full));
  CHECK(s.core.facts().answer.reason == stop_reason::truncated);
  CHECK(*s.core.facts().answer.text == "half an ans");
  CHECK(script().model(reply("", {}, end_reason::context_full)).core.facts().answer.reason ==
        stop_reason::context_full);
}

TEST_CASE("G29: calls of a reply that was cut or stopped are never executed") {
  for (auto [reason, expected] :
       {std::pair{end_reason::length, stop_reason::truncated}, std::pair{end_reason::filter, stop_reason::refused},
        std::pair{end_reason::refusal, stop_reason::refused},
        std::pair{end_reason::context_full, stop_reason::truncated},
        std::pair{end_reason::unknown, stop_reason::truncated}}) {
    script s;
    s.model(reply("x", {call("a"), call("b")}, reason));
    CHECK(s.running.empty());
    CHECK(s.core.facts().answer.reason == expected);
    CHECK(fault_of(s.core.facts().messages) == "");
    CHECK(fault_of(s.records) == "");
    CHECK(contains(result_text(s.core, 3, 1), "Not executed"));
  }
}

TEST_CASE("G29: the model may try again after a malformed call") {
  script s;
  s.model(reply("", {call("a")}, end_reason::malformed_call));
  CHECK(s.running.empty());
  s.model(reply("then without"));
  CHECK(s.core.facts().answer.reason == stop_reason::final);
  CHECK(script().model(reply("", {}, end_reason::malformed_call)).core.facts().answer.reason ==
        stop_reason::provider_error);
}

TEST_CASE("L11: a reply that filled the context or was only a call that nobody can read names its model and the mend") {
  const auto by = [](record::assistant r) {
    auto m = std::make_shared<providers::message>(*r.message);
    m->origin = {"anthropic", "https://api.example.com/x?key=1", "claude"};
    r.message = std::move(m);
    return r;
  };
  const std::string_view filled =
      "Unable to complete task: the conversation is too long for the model \"m\" (claude) at api.example.com: shorten "
      "it, "
      "begin a new one, or use a model with a larger context.";
  CHECK(script().model(by(reply("part", {}, end_reason::context_full))).core.facts().answer.reason_text == filled);
  CHECK(script().model(by(reply("", {call("a")}, end_reason::context_full))).core.facts().answer.reason_text == filled);
  CHECK(
      script().model(by(reply("", {}, end_reason::malformed_call))).core.facts().answer.reason_text ==
      "Unable to complete task: the model \"m\" (claude) at api.example.com tried to call a tool in a form nobody can "
      "read: ask again, and if that goes on, offer fewer tools or use another model.");
}

TEST_CASE("L11: a reply that was cut, filtered or refused names its model and the mend, with calls and without") {
  const auto ended = [](end_reason reason, bool calls, std::int64_t asked = 0, const std::string& refusal = "",
                        const std::string& raw_reason = "") {
    auto r = reply("part", calls ? std::vector{call("a")} : std::vector<providers::tool_call_block>(), reason);
    auto m = std::make_shared<providers::message>(*r.message);
    m->origin = {"anthropic", "https://api.example.com/x?key=1", "claude"};
    if (!refusal.empty()) m->blocks.emplace_back(providers::refusal_block{refusal});
    r.message = std::move(m);
    r.raw_reason = raw_reason;
    auto begun = opening({});
    begun.settings.max_output_tokens = asked;
    return script(std::vector<run_record>{std::move(begun)}).model(std::move(r)).core.facts().answer.reason_text;
  };
  const std::string who = "model \"m\" (claude) at api.example.com";
  for (const bool calls : {false, true}) {
    CAPTURE(calls);
    CHECK(ended(end_reason::length, calls) ==
          "Unable to complete task: the " + who +
              " was cut off at the limit of its output: raise `maxTokens` of its entry in the configuration, or ask "
              "for less at once.");
    CHECK(ended(end_reason::length, calls, 50) ==
          "Unable to complete task: the " + who +
              " was cut off at the 50 tokens that the request lets it write: ask for more of them.");
    CHECK(ended(end_reason::filter, calls) == "Unable to complete task: a content filter stopped the " + who +
                                                  ": ask in other words, or use another model.");
    CHECK(ended(end_reason::unknown, calls, 0, "", "new\u202e_thing") ==
          "Unable to complete task: the " + who +
              " ended for the reason \"new_thing\", which is not known here, so it may not be whole: ask again, or use "
              "another model.");
    CHECK(ended(end_reason::refusal, calls) ==
          "Unable to complete task: the " + who + " refused to answer: ask in other words, or use another model.");
    CHECK(ended(end_reason::refusal, calls, 0, "I will not do that") ==
          "Unable to complete task: the " + who +
              " refused to answer: I will not do that. Ask in other words, or use another model.");
  }
}

TEST_CASE("L11: an empty answer is final and says so") {
  script s;
  s.model(reply(""));
  CHECK(s.core.facts().answer.reason == stop_reason::final);
  CHECK(s.core.facts().answer.reason_text == "Unable to complete task: the model gave an empty answer.");
  CHECK(fault_of(s.core.facts().messages) == "");  // no empty message in the history
}

TEST_CASE("run_core: a paused reply is gone on with") {
  script s;
  s.model(reply("working", {}, end_reason::pause));
  CHECK(s.core.facts().depth == 1);
  s.model(reply("done"));
  CHECK(s.core.facts().answer.reason == stop_reason::final);
}

TEST_CASE("L12: calls run in parallel up to the limit and results are appended in call order") {
  run_limits l;
  l.tool_concurrency = 2;
  script s(l);
  s.model(reply("", {call("a"), call("b"), call("c"), call("d")}));
  CHECK(s.running == std::vector<std::string>{"a", "b"});
  s.answer(answered("b"));
  CHECK(s.running == std::vector<std::string>{"a", "c"});
  s.answer(answered("c")).answer(answered("d")).answer(answered("a"));
  CHECK(fault_of(s.core.facts().messages) == "");
  CHECK(s.core.facts().messages.size() == 4);
}

TEST_CASE("L12: toolConcurrency 1 is strict sequence") {
  run_limits l;
  l.tool_concurrency = 1;
  script s(l);
  s.model(reply("", {call("a"), call("b"), call("c")}));
  for (const auto* id : {"a", "b", "c"}) {
    CHECK(s.running == std::vector<std::string>{id});
    s.answer(answered(id));
  }
  CHECK(s.core.facts().depth == 1);
}

TEST_CASE("L14: what the model sees is cut and the record keeps the whole") {
  run_limits l;
  l.max_result_bytes = 1000;
  l.empty_result_text = "nothing there";
  script s(l);
  s.model(reply("", {call("a"), call("b")}));
  s.answer(answered("a", std::string(5000, 'x'))).answer(answered("b", ""));
  CHECK(result_text(s.core, 3, 0).size() < 1400);
  CHECK(contains(result_text(s.core, 3, 0), "was cut"));
  CHECK(contains(result_text(s.core, 3, 1), "nothing there"));
}

TEST_CASE("L16: the result tells text and reason and rounds and calls and usage and messages") {
  script s;
  s.model(reply("", {call("a")})).answer(answered("a", "42"));
  s.model(reply("it is 42"));
  const auto r = daemon::event_json::run_result(s.core.facts());
  CHECK(
      r.text() ==
      R"({"run":"r","text":"it is 42","stopReason":"final","rounds":2,)"
      R"("toolCalls":[{"id":"a","name":"lookup","server":"srv","arguments":{"of":"a"},"isError":false,"durationMs":3}],)"
      R"("usage":{"inputTokens":20,"outputTokens":10,"cachedTokens":4},"messages":[)"
      R"({"role":"system","content":[{"type":"text","text":"be brief"}]},)"
      R"({"role":"user","content":[{"type":"text","text":"go"}]},)"
      R"({"role":"assistant","content":[{"type":"tool_call","id":"a","name":"lookup","arguments":{"of":"a"}}]},)"
      R"({"role":"tool","content":[{"type":"tool_result","id":"a","name":"lookup","isError":false,"result":{"content":[{"type":"text","text":"42"}]}}]},)"
      R"({"role":"assistant","content":[{"type":"text","text":"it is 42"}]}]})");
  CHECK(raw_json::parse(r.text()).has_value());
}

TEST_CASE("L16: the result tells when the model could not be called as it is configured") {
  providers::model_error e;
  e.message = "the key is not there";
  for (const auto type : {providers::model_error::kind::configuration, providers::model_error::kind::refused}) {
    e.type = type;
    script s;
    s.fails(e);
    CHECK(s.core.facts().answer.reason == stop_reason::provider_error);
    const auto cause = find_member(daemon::event_json::run_result(s.core.facts()), "cause");
    CHECK(cause.as_string().value_or("none") ==
          (type == providers::model_error::kind::configuration ? "config" : "none"));
  }
}

TEST_CASE("L18: a cancel closes every call and then ends") {
  run_limits l;
  l.tool_concurrency = 2;
  script s(l);
  s.model(reply("", {call("a"), call("b"), call("c")}));
  s.answer(answered("a"));
  s.cancel();
  const auto at = static_cast<std::size_t>(
      std::ranges::find_if(s.records, [](const auto& r) { return std::holds_alternative<record::cancel>(r); }) -
      s.records.begin());
  CHECK(s.started[at] == lines{"cancel_open", "close_call b cancelled", "close_call c cancelled"});
  CHECK(s.core.facts().answer.reason == stop_reason::cancelled);
  CHECK(contains(result_text(s.core, 3, 1), "may have taken effect"));
  CHECK(fault_of(s.records) == "");
  CHECK(fault_of(s.core.facts().messages) == "");
}

TEST_CASE("L18: a cancel during the model call ends at once") {
  script s;
  s.settle();
  s.cancel(stop_reason::cancelled, "you asked for it");
  CHECK(s.core.facts().answer.reason == stop_reason::cancelled);
  CHECK(s.core.facts().answer.reason_text == "Unable to complete task: you asked for it.");
  CHECK_FALSE(s.model_open);
}

TEST_CASE("L23: one that fits ends the run, and its value is kept") {
  auto start = opening();
  start.answer_schema =
      raw_json::literal(R"({"type":"object","required":["n"],"properties":{"n":{"type":"integer"}}})");
  script s({run_record(start)});
  s.model(reply("```json\n{\"n\": 7}\n```"));
  CHECK(s.core.facts().ended);
  CHECK(s.core.facts().answer.reason == stop_reason::final);
  CHECK(s.core.facts().answer.data.text() == R"({"n": 7})");
}

TEST_CASE("L23: one that stands on several lines is kept on one, as the caller gets it in a line") {
  auto start = opening();
  start.answer_schema = raw_json::literal(R"({"type":"object"})");
  script s({run_record(start)});
  s.model(reply("{\n  \"n\": [\r\n    7\n  ],\n  \"t\": \"a\\nb\"\n}"));
  CHECK(s.core.facts().answer.reason == stop_reason::final);
  CHECK(s.core.facts().answer.data.text() == R"({   "n": [      7   ],   "t": "a\nb" })");
}

TEST_CASE("L23: the model is told once what is wrong, without tools, and may put it right") {
  auto start = opening();
  start.answer_schema =
      raw_json::literal(R"({"type":"object","required":["n"],"properties":{"n":{"type":"integer"}}})");
  script s({run_record(start)});
  s.model(reply("seven"));
  CHECK_FALSE(s.core.facts().ended);
  CHECK(s.model_open);
  CHECK(s.started.back() == lines{"call_model 1 without tools"});
  CHECK(s.core.facts().messages.back()->role == providers::role::user);
  CHECK(s.core.facts().messages.back()->text().find("is not one JSON value") != std::string::npos);
  CHECK(fault_of(s.core.facts().messages) == "");
  s.model(reply(R"({"n":7})"));
  CHECK(s.core.facts().answer.reason == stop_reason::final);
  CHECK(s.core.facts().answer.reason_text == "");
  CHECK(s.core.facts().answer.data.text() == R"({"n":7})");
  CHECK(s.core.facts().rounds == 2);
}

TEST_CASE("L23: an empty or blank one is put right like one that cannot be read, or is an error") {
  auto start = opening();
  start.answer_schema = raw_json::literal(R"({"type":"object"})");
  for (const auto* nothing : {"", " \n", "```json\n```"}) {
    CAPTURE(nothing);
    script s({run_record(start)});
    s.model(reply(nothing));
    REQUIRE(s.model_open);
    CHECK(contains(s.core.facts().messages.back()->text(), "the answer is empty"));
    CHECK(fault_of(s.core.facts().messages) == "");
    script twice = s;
    s.model(reply(R"({"n":7})"));
    CHECK(s.core.facts().answer.reason == stop_reason::final);
    CHECK(s.core.facts().answer.reason_text == "");
    CHECK(s.core.facts().answer.data.text() == R"({"n":7})");
    twice.model(reply(nothing));
    CHECK(twice.core.facts().answer.reason == stop_reason::provider_error);
    CHECK(contains(twice.core.facts().answer.reason_text,
                   "still does not have the requested format: the answer is empty"));
  }
}

TEST_CASE("L23: one whose check is ended by a bound is no answer that fits") {
  auto start = opening();
  start.answer_schema = raw_json::literal(R"({"$ref":"#"})");
  script s({run_record(start)});
  s.model(reply("1"));
  CHECK_FALSE(s.core.facts().ended);
  CHECK(contains(s.core.facts().messages.back()->text(), "could not be held against the whole schema"));
  s.model(reply("2"));
  CHECK(s.core.facts().answer.reason == stop_reason::provider_error);
  CHECK(contains(s.core.facts().answer.reason_text, "could not be held against the whole schema"));
  CHECK(s.core.facts().answer.data.empty());
}

TEST_CASE("L23: one that is wrong twice is an error with its reason") {
  auto start = opening();
  start.answer_schema =
      raw_json::literal(R"({"type":"object","required":["n"],"properties":{"n":{"type":"integer"}}})");
  script s({run_record(start)});
  s.model(reply("seven")).model(reply(R"({"n":"7"})"));
  CHECK(s.core.facts().answer.reason == stop_reason::provider_error);
  CHECK(s.core.facts().answer.reason_text.starts_with(
      "Unable to complete task: the model's corrected answer still does not have the requested format: "));
  CHECK(s.core.facts().answer.reason_text.find("answer.n: expected an integer") != std::string::npos);
  CHECK(s.core.facts().answer.data.empty());
  CHECK(*s.core.facts().answer.text == R"({"n":"7"})");
  // A crash at any record leads to the same end.
  for (std::size_t cut = 1; cut < s.records.size(); ++cut) {
    script again(std::vector<run_record>(s.records.begin(), s.records.begin() + static_cast<std::ptrdiff_t>(cut)));
    again.settle();
    if (again.model_open && again.core.facts().messages.size() < 3) again.model(reply("seven"));
    if (again.model_open) again.model(reply(R"({"n":"7"})"));
    CHECK(again.core.facts().answer.reason == stop_reason::provider_error);
    CHECK(again.core.facts().answer.reason_text == s.core.facts().answer.reason_text);
  }
}

TEST_CASE("L23: what was made at a limit is checked too, and tools in the corrected answer are refused") {
  run_limits l;
  l.max_rounds = 1;
  auto start = opening(l);
  start.answer_schema = raw_json::literal(R"({"type":"array"})");
  script s({run_record(start)});
  s.model(reply("", {call("a")})).answer(answered("a")).model(reply("{}")).model(reply("[1]"));
  CHECK(s.core.facts().answer.reason == stop_reason::max_rounds);
  CHECK(s.core.facts().answer.data.text() == "[1]");
  auto second = opening();
  second.answer_schema = start.answer_schema;
  script t({run_record(second)});
  t.model(reply("{}")).model(reply("", {call("a")}));
  CHECK(t.core.facts().ended);
  CHECK(t.core.facts().answer.reason == stop_reason::provider_error);
  CHECK(fault_of(t.records) == "");
  CHECK(fault_of(t.core.facts().messages) == "");
}

// State machine of a run with people and the caller's own tools: questions, answers, parked runs, and resuming after a
// crash.
#include "test/daemon/loop/core/core_script.hpp"

#include <doctest/doctest.h>

#include <string>
#include <vector>

using namespace mcpbx;
using namespace mcpbx::daemon::core;
using namespace mcpbx::daemon::stored;
using namespace mcpbx::daemon::test;
using namespace mcpbx::json;

namespace {

std::string result_text(const run_core& core, std::size_t index) {
  const auto& block = core.facts().messages.at(core.facts().messages.size() - 1)->blocks.at(index);
  return std::string(std::get<providers::tool_result_block>(block).result.text());
}

script after_crash(const script& s) {
  return script(s.records);
}

}  // namespace

TEST_CASE("L19: a call that needs a yes is made after it, and others need not wait") {
  script s;
  s.model(reply("", {call("a", "guarded"), call("b")}));
  CHECK(s.asked == std::vector<std::string>{"q_a"});
  CHECK(s.running == std::vector<std::string>{"b"});
  CHECK_FALSE(s.core.waits_for_people());
  s.answer(answered("b"));
  CHECK(s.core.waits_for_people());
  s.says("q_a", true);
  CHECK(s.running == std::vector<std::string>{"a"});
  s.answer(answered("a")).model(reply("done"));
  CHECK(s.core.facts().answer.reason == stop_reason::final);
}

TEST_CASE("L19: a no and no answer are both told the model, and nothing is made") {
  script s;
  s.model(reply("", {call("a", "guarded"), call("b", "guarded")}));
  s.says("q_a", false).expires("q_b");
  CHECK(s.running.empty());
  CHECK(result_text(s.core, 0).find("the user refused this call") != std::string::npos);
  CHECK(result_text(s.core, 1).find("nobody answered in time") != std::string::npos);
  CHECK(s.core.facts().calls.front().is_error);
}

TEST_CASE("G39: a yes holds for the very definition and arguments that were shown, \"always\" for the definition") {
  script s;
  s.model(reply("", {call("a", "guarded")}));
  s.asked.clear();
  s.take(record::answer{"q_a", raw_json::own(R"({"approve":true})"), false});
  CHECK(s.core.approved("a", "t", "a"));
  CHECK_FALSE(s.core.approved("a", "other", "a"));
  CHECK_FALSE(s.core.approved("a", "t", "other"));
  CHECK_FALSE(s.core.approved("b", "t", "a"));
  s.settle();
  s.answer(answered("a")).model(reply("", {call("b", "guarded")}));
  CHECK(s.asked == std::vector<std::string>{"q_b"});  // a plain approval covers one call
  s.says("q_b", true, true).answer(answered("b")).model(reply("", {call("c", "guarded")}));
  CHECK(s.asked.empty());
  CHECK(s.core.approved("c", "t", "other"));
  CHECK_FALSE(s.core.approved("c", "other", "other"));
}

TEST_CASE("L21: calls of the caller's tools are handed over together, when nothing else is left to do") {
  script s;
  s.model(reply("", {call("a", "mine"), call("b"), call("c", "mine")}));
  CHECK_FALSE(s.handed_over);
  s.answer(answered("b"));
  CHECK(s.handed_over);
  CHECK(s.core.facts().parked);
  CHECK(s.core.handed() == std::vector<std::string_view>{"a", "c"});
  CHECK(s.core.facts().calls.front().pending);
  s.gives();
  CHECK_FALSE(s.core.facts().parked);
  CHECK_FALSE(s.core.facts().calls.front().pending);
  s.model(reply("done"));
  CHECK(s.core.facts().answer.reason == stop_reason::final);
}

TEST_CASE("L9: a run that stops at the first failure asks nobody any more") {
  run_limits l;
  l.on_tool_error = tool_error_policy::stop;
  script s(l);
  s.model(reply("", {call("a", "guarded"), call("b", "mine"), call("c")}));
  s.answer(failed("c"));
  CHECK(s.asked.empty());
  CHECK_FALSE(s.handed_over);
  CHECK(s.core.facts().answer.reason == stop_reason::tool_error);
}

TEST_CASE("L9 G24: a run that was ending when mcpbx was interrupted ends, and makes nothing again") {
  run_limits l;
  l.on_tool_error = tool_error_policy::stop;
  script s(l);
  s.model(reply("", {call("a"), call("b"), call("c", "guarded")}));
  CHECK(s.running == lines{"a", "b"});
  s.take(failed("b"));  // the crash comes before the next record
  for (auto& r : s.records)
    if (auto* intent = std::get_if<record::call_intent>(&r)) intent->repeatable = true;
  script again(s.records);
  again.settle();
  CHECK(again.running.empty());
  REQUIRE(again.core.facts().ended);
  CHECK(again.core.facts().answer.reason == stop_reason::tool_error);
  CHECK(fault_of(again.records) == "");
}

TEST_CASE("L11 L19: when nobody was there to be asked the run ends, and its session says how to be asked again") {
  auto begun = opening();
  begun.session = "ses_1";
  script s(std::vector<run_record>{begun});
  s.model(reply("", {call("a", "guarded"), call("b", "mine"), call("c")}));
  s.take(record::answer{"q_a", {}, true, true});
  s.settle();
  CHECK_FALSE(s.core.facts().ended);
  s.answer(answered("c"));
  REQUIRE(s.core.facts().ended);
  CHECK(s.core.facts().answer.reason == stop_reason::needs_approval);
  CHECK(
      s.core.facts().answer.reason_text ==
      "Unable to complete task: the call of \"guarded\" needs approval, and nobody was there to give it; continue the "
      "session ses_1 to be asked again.");
  CHECK(fault_of(s.records) == "");
  CHECK(fault_of(s.core.facts().messages) == "");
}

TEST_CASE("G24: a run that goes on after a crash repeats what is safe and closes what may have happened") {
  script s;
  s.model(reply("", {call("a"), call("b", "guarded"), call("c", "mine")}));
  auto again = after_crash(s);
  again.settle();
  CHECK(again.running.empty());  // "a" was sent and may not be repeated
  CHECK(again.asked == std::vector<std::string>{"q_b"});
  again.says("q_b", true);
  CHECK(again.running == std::vector<std::string>{"b"});
  again.answer(answered("b"));
  CHECK(again.handed_over);
  again.gives();
  CHECK(result_text(again.core, 0).find("it may have taken effect") != std::string::npos);
  again.model(reply("done"));
  CHECK(fault_of(again.records) == "");
}

TEST_CASE("G24: a repeatable call is made again after a crash, and a parked run stays parked") {
  script s;
  s.settle();
  s.model_open = false;
  s.take(reply("", {call("a")}));
  s.todo.clear();
  record::call_intent intent;
  intent.call_id = "a";
  intent.repeatable = true;
  s.take(intent);
  auto again = after_crash(s);
  again.settle();
  CHECK(again.running == std::vector<std::string>{"a"});

  script p;
  p.model(reply("", {call("m", "mine")}));
  auto later = after_crash(p);
  CHECK(later.todo.empty());
  CHECK(later.handed_over);
  later.gives().model(reply("done"));
  CHECK(later.core.facts().answer.reason == stop_reason::final);
}

TEST_CASE("G24: a crash before the model answered calls it again, after the last reply only the end is missing") {
  script s;
  s.settle();
  auto again = after_crash(s);
  again.settle();
  CHECK(again.model_open);
  script first;  // its only record is run_started
  first.todo.clear();
  auto begun = after_crash(first);
  begun.settle();
  CHECK(begun.model_open);
  s.model(reply("done"));
  s.records.pop_back();
  auto ended = after_crash(s);
  ended.settle();
  CHECK(ended.core.facts().answer.reason == stop_reason::final);
}

TEST_CASE("G24 L9: a run that was stopping at its first failure ends after a crash, and begins no other call") {
  run_limits l;
  l.on_tool_error = tool_error_policy::stop;
  l.tool_concurrency = 1;
  auto unreadable = call("b");
  unreadable.problem = "no JSON";
  unreadable.arguments = {};
  script s(l);
  s.settle();
  s.model_open = false;
  s.take(reply("", {call("a"), unreadable, call("c")}));
  REQUIRE(s.started.back() == lines{"close_call b bad_arguments", "intend_calls a"});
  s.carry_out_one();  // "b" has its result; the crash comes before the intent of "a"
  script again(s.records);
  again.settle();
  CHECK(again.core.facts().answer.reason == stop_reason::tool_error);
  CHECK(again.running.empty());
  CHECK(fault_of(again.records) == "");
  CHECK(fault_of(again.core.facts().messages) == "");
}

TEST_CASE("L19: a server's question during a call waits beside the call and its answer goes to the server") {
  run_limits l;
  l.tool_concurrency = 1;
  script s(l);
  s.model(reply("", {call("a"), call("b")}));
  CHECK(s.running == lines{"a"});
  s.asks("a");
  CHECK(s.asked == lines{"d_a"});
  // While a person thinks, the call takes no place, and no time counts once nothing else runs.
  CHECK(s.running == lines{"a", "b"});
  CHECK_FALSE(s.core.waits_for_people());
  s.answer(answered("b"));
  CHECK(s.core.waits_for_people());
  REQUIRE(s.core.find_question("d_a"));
  CHECK(s.core.questions().size() == 1);
  std::erase(s.asked, "d_a");
  s.take(record::answer{"d_a", raw_json::literal(R"({"action":"accept","content":{"n":1}})")});
  CHECK(s.started.back() == lines{"pass_answer d_a"});
  CHECK_FALSE(s.core.waits_for_people());
  CHECK_FALSE(s.core.find_question("d_a"));
  s.answer(answered("a")).model(reply("done"));
  CHECK(s.core.facts().answer.reason == stop_reason::final);
  CHECK(fault_of(s.records) == "");
}

TEST_CASE("L19: several questions of one call are answered one by one and a withdrawn one is passed to nobody") {
  script s;
  s.model(reply("", {call("a")}));
  s.asks("a", "one").asks("a", "two").asks("a", "three");
  CHECK(s.asked == lines{"one", "two", "three"});
  s.take(record::answer{"two", raw_json::literal(R"({"action":"decline"})")});
  CHECK(s.started.back() == lines{"pass_answer two"});
  record::answer gone{"one", raw_json::literal(R"({"action":"cancel"})")};
  gone.withdrawn = true;
  s.take(gone);
  CHECK(s.started.back().empty());
  CHECK(s.core.waits_for_people());
  s.asked.clear();
  s.answer(answered("a"));  // its server has ended the call without the third answer
  CHECK(s.core.questions().empty());
  CHECK(s.model_open);
}

TEST_CASE("L19: a yes for always to a server's sampling holds for the model of its entry and no other") {
  script s;
  s.model(reply("", {call("a"), call("b")}));
  s.asks("a", "one", "approval").asks("b", "two", "approval");
  CHECK(s.core.covered_by(*s.core.find_question("one")) == lines{"two"});
  s.says("one", true, true);
  CHECK(s.core.approved_always("srv__sampling/createMessage", "t"));
  CHECK_FALSE(s.core.approved_always("srv__sampling/createMessage", "other"));
  CHECK_FALSE(s.core.approved_always("srv__other", "t"));
}

TEST_CASE("L18 L19: a run that is resumed after a crash closes the questions of servers that are gone") {
  script s;
  s.model(reply("", {call("a"), call("b")}));
  s.asks("a").asks("b");
  for (auto& r : s.records)
    if (auto* intent = std::get_if<record::call_intent>(&r)) intent->repeatable = intent->call_id == "b";
  auto again = after_crash(s);
  again.settle();
  CHECK(again.core.questions().empty());
  CHECK(again.asked.empty());
  CHECK(again.running == lines{"b"});  // the one that may be repeated is
  CHECK(result_text(again.answer(answered("b")).core, 0).find("it may have taken effect") != std::string::npos);
  again.model(reply("done"));
  CHECK(again.core.facts().answer.reason == stop_reason::final);
  CHECK(fault_of(again.records) == "");
}

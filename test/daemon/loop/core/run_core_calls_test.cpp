// State machine of a run: serial groups, repeated attempts, and results that are cut.
#include "daemon/loop/core/run_core.hpp"
#include "daemon/loop/results/read_result.hpp"
#include "test/daemon/loop/core/core_script.hpp"

#include <doctest/doctest.h>

#include <string>
#include <vector>

using namespace mcpbx;
using namespace mcpbx::daemon::core;
using namespace mcpbx::daemon::stored;
using namespace mcpbx::daemon::test;

namespace {

record::assistant in_groups(std::vector<providers::tool_call_block> calls, std::vector<int> groups) {
  auto r = reply("", std::move(calls));
  r.serial_groups = std::move(groups);
  return r;
}

record::call_intent intent(const std::string& id, int attempt, bool repeatable = true) {
  record::call_intent i;
  i.call_id = id;
  i.name = "lookup";
  i.server = "srv";
  i.attempt = attempt;
  i.repeatable = repeatable;
  return i;
}

providers::model_error too_long() {
  providers::model_error e;
  e.type = providers::model_error::kind::context_full;
  e.message = "the conversation is too long for \"m\"";
  return e;
}

std::size_t bytes_of(const run_core& core, std::size_t message) {
  return std::get<providers::tool_result_block>(core.facts().messages.at(message)->blocks.at(0)).result.text().size();
}

const std::string large(5000, 'x');

}  // namespace

TEST_CASE("L12: calls of one serial group run one after another in call order while others run beside them") {
  script s;
  s.model(in_groups({call("a"), call("b"), call("c"), call("d"), call("e")}, {1, 1, 0, 2, 1}));
  CHECK(s.running == lines{"a", "c", "d"});
  s.answer(answered("d"));
  CHECK(s.running == lines{"a", "c"});
  s.answer(answered("a"));
  CHECK(s.running == lines{"c", "b"});
  s.answer(failed("b"));
  CHECK(s.running == lines{"c", "e"});
  s.answer(answered("e")).answer(answered("c")).model(reply("done"));
  CHECK(fault_of(s.records) == "");
  CHECK(fault_of(s.core.facts().messages) == "");
}

TEST_CASE("L12: a call that is held back takes no place of those that run at the same time") {
  run_limits l;
  l.tool_concurrency = 2;
  script s(l);
  s.model(in_groups({call("a"), call("b"), call("c"), call("d")}, {1, 1, 1, 0}));
  CHECK(s.running == lines{"a", "d"});
}

TEST_CASE("L12 L19: a question holds up the calls behind it in its serial group, and the run's clock stands") {
  script s;
  s.model(in_groups({call("a", "guarded"), call("b")}, {1, 1}));
  CHECK(s.asked == lines{"q_a"});
  CHECK(s.running.empty());
  CHECK(s.core.waits_for_people());
  s.says("q_a", true);
  CHECK(s.running == lines{"a"});
  CHECK_FALSE(s.core.waits_for_people());
  s.answer(answered("a"));
  CHECK(s.running == lines{"b"});
}

TEST_CASE("L12: after a crash the serial groups hold on") {
  script s;
  s.model(in_groups({call("a"), call("b"), call("c")}, {1, 1, 0}));
  script again(s.records);
  again.settle();
  // "a" and "c" were sent and may not be repeated, so they are closed; then "b" has its turn.
  CHECK(again.running == lines{"b"});
  CHECK(again.core.find_call("a") != nullptr);
  CHECK_FALSE(again.core.is_open("a"));
}

TEST_CASE("G24: a call that had left before a crash is told so also where the run is cancelled as it goes on") {
  for (const auto why : {stop_reason::timeout, stop_reason::cancelled, stop_reason::interrupted}) {
    CAPTURE(daemon::stored::to_string(why));
    script s;
    s.model(reply("", {call("a"), call("b")}));
    run_core again;
    for (const auto& r : s.records) again.apply(r);
    again.resume();
    again.apply(record::cancel{why, "it is over"});
    int closed = 0;
    for (const auto& c : again.commands()) {
      const auto* close = std::get_if<command::close_call>(&c);
      if (!close) continue;
      ++closed;
      CHECK_MESSAGE(contains(close->text, "it may have taken effect"), close->text);
      CHECK_FALSE(contains(close->text, "Not executed"));
    }
    CHECK(closed == 2);
  }
}

TEST_CASE("L13: another attempt is another intent of the open call") {
  script s;
  s.model(reply("", {call("a")}));
  CHECK(s.core.attempts("a") == 1);
  s.running.clear();
  s.take(intent("a", 2));
  CHECK(s.started.back() == lines{"run_call a"});
  s.settle();
  CHECK(s.core.attempts("a") == 2);
  s.answer(answered("a")).model(reply("done"));
  CHECK(fault_of(s.records) == "");
}

TEST_CASE("L13 G24: a call that may be made again is made again after a crash, but not without end") {
  script s;
  s.model(reply("", {call("a")}));
  s.take(intent("a", 24));
  script again(s.records);
  again.settle();
  CHECK(again.running == lines{"a"});
  s.take(intent("a", 25));
  script last(s.records);
  last.settle();
  CHECK(last.running.empty());
  CHECK(last.model_open);
}

TEST_CASE("L14: the whole of a result that was cut is kept, also over a crash") {
  run_limits l;
  l.max_result_bytes = 1000;
  script s(l);
  s.model(reply("", {call("a"), call("b")}));
  CHECK(s.core.facts().kept.empty());
  s.answer(answered("a", large)).answer(answered("b", "short"));
  REQUIRE(s.core.facts().kept.find("a"));
  CHECK(s.core.facts().kept.find("a")->text().size() > 5000);
  CHECK(s.core.facts().kept.find("b") == nullptr);
  script again(s.records);
  CHECK(again.core.facts().kept.ids() == s.core.facts().kept.ids());
  // A page that the model has read is shown as it is and not kept itself.
  again.settle();
  again.model(reply("", {call("p", std::string(daemon::results::read_result::name))}));
  again.answer(answered("p", std::string(1500, 'y')));
  CHECK(bytes_of(again.core, 5) > 1500);
  CHECK(again.core.facts().kept.ids().size() == 1);
}

TEST_CASE("L14: when the model refuses for length the oldest results are cut and the request is made once more") {
  script s;
  s.model(reply("", {call("a")})).answer(answered("a", large));
  s.model(reply("", {call("b")})).answer(answered("b", large));
  s.model(reply("", {call("c")})).answer(answered("c", large));
  const auto depth = s.core.facts().depth;
  REQUIRE(s.model_open);
  s.model_open = false;
  s.take(record::model_failed{too_long(), 1});
  CHECK(s.started.back() == lines{"begin_round " + std::to_string(depth)});
  CHECK(std::get<command::begin_round>(s.todo.front()).shortened == 2);
  CHECK(bytes_of(s.core, 3) < 1000);
  CHECK(bytes_of(s.core, 5) < 1000);
  CHECK(bytes_of(s.core, 7) > 5000);
  CHECK(fault_of(s.core.facts().messages) == "");
  s.settle();
  CHECK(s.core.facts().depth == depth);
  // Every prefix of the records commands what the run started there.
  for (std::size_t n = 1; n <= s.records.size(); ++n) CHECK(print(fold(s.records, n).commands()) == s.started[n - 1]);
  // A second refusal ends the run.
  s.fails(too_long());
  CHECK(s.core.facts().answer.reason == stop_reason::context_full);
  CHECK(s.core.facts().answer.reason_text == "Unable to complete task: the conversation is too long for \"m\".");
}

TEST_CASE("L14: each request is made once more, and one without large results is not") {
  script s;
  s.model(reply("", {call("a")})).answer(answered("a", large)).fails(too_long());
  CHECK_FALSE(s.core.facts().ended);
  s.model(reply("", {call("b")})).answer(answered("b", large)).fails(too_long());
  CHECK_FALSE(s.core.facts().ended);
  s.model(reply("done"));
  CHECK(s.core.facts().answer.reason == stop_reason::final);
  CHECK(s.core.facts().kept.ids().size() == 2);

  script small;
  small.model(reply("", {call("a")})).answer(answered("a")).fails(too_long());
  CHECK(small.core.facts().answer.reason == stop_reason::context_full);
}

TEST_CASE("G28: an answer that came whole after a broken one has no part of that") {
  script s;
  auto broken = too_long();
  broken.partial_text = "half an";
  s.model(reply("", {call("a")})).answer(answered("a", large)).fails(broken);
  s.model(reply("done"));
  CHECK(s.core.facts().answer.reason == stop_reason::final);
  CHECK(s.core.facts().answer.partial_text == "");
}

TEST_CASE("L14: a crash between the refusal and the new request makes that request") {
  script s;
  s.model(reply("", {call("a")})).answer(answered("a", large));
  s.model_open = false;
  s.take(record::model_failed{too_long(), 1});
  script again(s.records);
  CHECK(print(again.core.commands()) == lines{"begin_round 1"});
  again.settle();
  CHECK(again.model_open);
  CHECK(bytes_of(again.core, 3) < 1000);
  const auto rest = fold(s.records, s.records.size()).recovery();
  CHECK(std::get<record::run_ended>(rest.back()).reason == stop_reason::interrupted);
}

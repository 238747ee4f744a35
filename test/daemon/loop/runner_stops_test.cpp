// Every reason for which a run ends, each after a round that went well: the reason, its sentence, its events, and a
// conversation that any provider accepts.
#include "daemon/loop/core/recovery.hpp"
#include "mcp/support/shared_bytes.hpp"
#include "test/daemon/loop/core/wire_history.hpp"
#include "test/daemon/loop/loop_fixture.hpp"

#include <boost/asio/detached.hpp>
#include <doctest/doctest.h>

#include <functional>
#include <set>
#include <string>
#include <vector>

using namespace mcpbx;
using namespace mcpbx::daemon::core;
using namespace mcpbx::daemon::run;
using namespace mcpbx::daemon::store;
using namespace mcpbx::daemon::stored;
using namespace mcpbx::daemon::test;
using namespace mcpbx::json;

namespace {

step ends_with(providers::end_reason reason, std::vector<providers::tool_call_block> calls = {}) {
  step s;
  s.reply = reply("half", std::move(calls), reason);
  return s;
}

step broken(providers::model_error::kind type) {
  providers::model_error e;
  e.type = type;
  e.message = "the model is gone";
  return breaks(std::move(e));
}

struct stop_case {
  stop_reason reason;
  std::string sentence;                          ///< follows "Unable to complete task: "
  std::vector<step> then;                        ///< answers of the model after the first round
  std::function<void(run_request&)> asked = {};  ///< changes the request before the start
  std::function<void(fixture&)> act = {};        ///< ends the run if it does not end by itself
};

std::vector<stop_case> all_stops() {
  const auto held = [](run_request& r) { r.limits.timeout_ms = 5000; };
  const auto hang = [](fixture& f) {
    f.time.advance(milliseconds(5000));
    f.settle();
  };
  return {
      {stop_reason::final, "", {says("done")}},
      {stop_reason::max_rounds,
       "the limit of 2 rounds was reached.",
       {calls({lookup("b")})},
       [](run_request& r) {
         r.limits.max_rounds = 2;
         r.limits.on_limit = limit_policy::stop;
       }},
      {stop_reason::consecutive_errors,
       "the tool calls of 3 rounds in a row failed.",
       {calls({call("b", "nope")}), calls({call("c", "nope")}), calls({call("d", "nope")})}},
      {stop_reason::tool_error,
       "the call of \"nope\" failed.",
       {calls({lookup("b"), call("c", "nope"), lookup("d")})},
       [](run_request& r) { r.limits.on_tool_error = tool_error_policy::stop; }},
      {stop_reason::timeout, "the time limit of 5 s for the run was reached.", {silent()}, held, hang},
      {stop_reason::token_budget,
       "the budget of 20 tokens is used up.",
       {calls({lookup("b"), lookup("c")})},
       [](run_request& r) { r.limits.token_budget = 20; }},
      {stop_reason::call_budget,
       "the budget of 2 tool calls is used up.",
       {calls({lookup("b"), lookup("c")})},
       [](run_request& r) {
         r.limits.max_calls = 2;
         r.limits.on_limit = limit_policy::stop;
       }},
      {stop_reason::repeated_calls,
       "the model made the same call of \"srv__lookup\" more than 1 time in a row.",
       {calls({lookup("b", "{}")}), calls({lookup("c", "{}")})},
       [](run_request& r) {
         r.limits.max_repeated_calls = 1;
         r.limits.on_limit = limit_policy::stop;
       }},
      {stop_reason::refused,
       "the model \"scripted\" refused to answer: ask in other words, or use another model.",
       {ends_with(providers::end_reason::refusal, {lookup("b")})}},
      {stop_reason::truncated,
       "the model \"scripted\" was cut off at the limit of its output: raise `maxTokens` of its entry in the "
       "configuration, or ask for less at once.",
       {ends_with(providers::end_reason::length, {lookup("b")})}},
      {stop_reason::cancelled,
       "enough.",
       {silent()},
       {},
       [](fixture& f) {
         f.runs->cancel("mine", "enough");
         f.settle();
       }},
      {stop_reason::caller_tools,
       "the caller did not send the results of its own tools within 5 s.",
       {calls({lookup("b"), call("c", "own")})},
       [](run_request& r) {
         r.limits.question_timeout_ms = 5000;
         r.client_tools = {raw_json::literal(R"({"name":"own","inputSchema":{"type":"object"}})")};
       },
       hang},
      {stop_reason::provider_error, "the model is gone.", {broken(providers::model_error::kind::cut)}},
      {stop_reason::context_full, "the model is gone.", {broken(providers::model_error::kind::context_full)}},
      {stop_reason::store_error,
       "the run's journal could not be written: no space left on device.",
       {calls({lookup("b")}), says("done")}},
      {stop_reason::interrupted,
       "the daemon is stopping.",
       {silent()},
       {},
       [](fixture& f) {
         asio::co_spawn(f.context, [&]() -> asio::awaitable<void> { co_await f.runs->shut_down(); }, asio::detached);
         f.settle();
       }},
  };
}

}  // namespace

TEST_CASE("L11: each stop reason has its sentence, its status, one done, and leaves a history any provider takes") {
  std::set<stop_reason> seen;
  for (const auto& c : all_stops()) {
    CAPTURE(daemon::stored::to_string(c.reason));
    seen.insert(c.reason);
    const bool unkept = c.reason == stop_reason::store_error;
    fixture f(unkept);
    f.failing.fail_at = "run_ended";
    f.model->script = {says("first", {lookup("a")})};
    for (const auto& s : c.then) f.model->script.push_back(s);
    auto r = fixture::ask();
    r.run = "mine";
    r.limits.status = status_mode::names;
    if (c.asked) c.asked(r);
    f.run(std::move(r));
    if (c.act) c.act(f);
    CHECK(f.runs->active() == 0);
    CHECK(f.caller_.done.size() == 1);
    CHECK(f.caller_.member("stopReason") == daemon::stored::to_string(c.reason));
    const auto whole = c.sentence.empty() ? "" : "Unable to complete task: " + c.sentence;
    if (c.reason == stop_reason::caller_tools) {
      // The caller got its result when the calls were handed over, and may have left since.
      CHECK_FALSE(f.written().empty());
    } else {
      CHECK(f.caller_.of("tool_call").size() == f.caller_.of("tool_result").size());
      CHECK(f.caller_.member("reason") == whole);
      if (!whole.empty())
        CHECK(f.caller_.of("status").back() ==
              R"({"type":"status","text":)" + json_quoted("Stopped: " + c.sentence) + "}");
    }
    if (unkept) continue;
    const auto core = fold(f.written(), f.written().size());
    CHECK(core.facts().answer.reason == c.reason);
    CHECK(core.facts().answer.reason_text == whole);
    CHECK(core.facts().messages.size() >= 4);  // includes the round that went well
    CHECK(fault_of(core.facts().messages) == "");
    CHECK(wire_fault_of(core.facts().messages) == "");
  }
  for (int i = 0; i <= static_cast<int>(stop_reason::repeated_calls); ++i)
    // needs_approval is left out: only detached runs end with it, and none of these runs is detached.
    if (const auto reason = static_cast<stop_reason>(i); reason != stop_reason::needs_approval)
      CHECK_MESSAGE(seen.contains(reason), daemon::stored::to_string(reason));
}

TEST_CASE(
    "L11: the error of a busy model tells the wait that its endpoint asked for, that of a wrong request does not") {
  const auto told = [](bool retryable) {
    fixture f;
    providers::model_error e;
    e.type = providers::model_error::kind::overloaded;
    e.message = "no";
    e.retryable = retryable;
    e.retry_after_ms = 3'600'000;
    f.model->script = {breaks(e)};
    f.run();
    return f.caller_.of("error");
  };
  CHECK(told(true) == lines{R"({"type":"error","message":"no","retryable":true,"retryAfterMs":3600000})"});
  CHECK(told(false) == lines{R"({"type":"error","message":"no","retryable":false})"});
}

TEST_CASE("G28 L18: what an answer had begun with when a cancel or the time limit broke it off is told as a part") {
  for (const bool by_time : {false, true}) {
    CAPTURE(by_time);
    fixture f;
    step half = silent();
    half.deltas = {"half ", "an"};
    f.model->script = {says("first", {lookup("a")}), half};
    run_limits l;
    l.timeout_ms = 5'000;
    const auto run = f.run(fixture::ask(l));
    if (by_time)
      f.time.advance(milliseconds(5'000));
    else
      f.runs->cancel(run, "enough");
    f.settle();
    CHECK(f.caller_.member("stopReason") == (by_time ? "timeout" : "cancelled"));
    CHECK(f.caller_.member("partialText") == "half an");
    CHECK(folded(f.written()).partial_text == "half an");
    for (const auto& m : folded(f.written()).messages) CHECK_FALSE(contains(m->text(), "half"));
  }
  fixture f;
  f.server->hold["lookup"] = true;
  f.model->script = {says("first", {lookup("a")})};
  f.runs->cancel(f.run(), "enough");
  f.settle();
  CHECK(f.caller_.member("stopReason") == "cancelled");
  CHECK(f.caller_.member("partialText").empty());
}

TEST_CASE("G18: while bytes run short a new run waits, and begins when there is room, or is refused after 30 s") {
  const auto limit = byte_account::limit();
  byte_account::set_limit(byte_account::total() + (4u << 20));
  enum class what { room, none, cancelled };
  for (const auto then : {what::room, what::none, what::cancelled}) {
    CAPTURE(static_cast<int>(then));
    fixture f;
    if (then != what::room) f.unproven = "it never begins";
    byte_share held;
    held.set(8u << 20);
    f.model->script = {says("done")};
    auto r = fixture::ask();
    r.run = "late";
    f.run(std::move(r));
    for (int i = 0; i < 100; ++i) {
      f.time.advance(milliseconds(50));
      f.settle();
    }
    CHECK(f.model->requests.empty());
    CHECK(f.runs->active() == 1);
    if (then == what::room) held.set(0);
    if (then == what::cancelled) f.runs->cancel("late", "enough");
    f.settle();
    for (int i = 0; i < (then == what::none ? 500 : 1); ++i) {
      f.time.advance(milliseconds(50));
      f.settle();
    }
    CHECK(f.runs->active() == 0);
    CHECK(f.model->requests.size() == (then == what::room ? 1 : 0));
    if (then == what::room) CHECK(f.caller_.member("stopReason") == "final");
    if (then == what::none) {
      REQUIRE(f.caller_.refused.size() == 1);
      CHECK(f.caller_.refused[0].code == errc::limit);
      CHECK(contains(f.caller_.refused[0].message, "`limits.totalBytes`"));
    }
  }
  byte_account::set_limit(limit);
}

TEST_CASE("G18: what ended detached runs hold makes way for a run that is to begin, or that waits for room") {
  memory_journal keeps_nothing;
  const std::string large(600'000, 'x');
  const auto limit = byte_account::limit();
  for (const bool waits : {false, true}) {
    CAPTURE(waits);
    byte_account::set_limit(byte_account::total() + (8u << 20));
    fixture f(false, &keeps_nothing);
    f.unproven = "the journal keeps nothing";
    f.server->hold["lookup"] = true;
    f.model->script = {calls({lookup("a")}), says(large), says("done")};
    auto r = fixture::ask();
    r.run = "before";
    r.detach = true;
    f.run(std::move(r));
    CHECK(f.caller_.done.empty());
    byte_share held;
    caller next;
    const auto begin_next = [&] { REQUIRE(f.runs->start(fixture::ask(), next)); };
    if (waits) {
      held.set(8u << 20);
      begin_next();
      f.settle();
    }
    f.server->release();
    f.settle();
    REQUIRE(f.caller_.done.size() == 1);
    f.caller_ = {};  // the old caller has read everything
    f.model->requests.clear();
    CHECK(f.runs->find("before").has_value() != waits);
    held.set(23u << 18);
    CHECK(byte_account::runs_short() != waits);
    if (!waits) begin_next();
    f.settle();
    f.time.advance(milliseconds(0));
    f.settle();
    CHECK(next.member("stopReason") == "final");
    CHECK_FALSE(f.runs->find("before").has_value());
  }
  byte_account::set_limit(limit);
}

TEST_CASE("G18: an ended run that would fill a quarter of what all may have is left to the journal") {
  memory_journal keeps_nothing;
  const auto limit = byte_account::limit();
  byte_account::set_limit(byte_account::total() + (8u << 20));
  for (const std::size_t bytes : {600'000, 3'000'000}) {
    CAPTURE(bytes);
    fixture f(false, &keeps_nothing);
    f.unproven = "the journal keeps nothing";
    f.model->script = {says(std::string(bytes, 'x'))};
    auto r = fixture::ask();
    r.run = "long";
    r.detach = true;
    f.run(std::move(r));
    REQUIRE(f.caller_.done.size() == 1);
    CHECK(f.runs->find("long").has_value() == (bytes < 2'000'000));
  }
  byte_account::set_limit(limit);
}

TEST_CASE("G18: a start that is refused takes nothing of what ended runs told") {
  memory_journal keeps_nothing;
  const auto limit = byte_account::limit();
  byte_account::set_limit(byte_account::total() + (8u << 20));
  {
    fixture f(false, &keeps_nothing);
    f.unproven = "the journal keeps nothing";
    f.model->script = {says("done")};
    auto r = fixture::ask();
    r.run = "long";
    r.detach = true;
    f.run(std::move(r));
    f.caller_ = {};
    byte_share held;
    held.set(8u << 20);
    auto wrong = fixture::ask();
    wrong.model = "gone";
    CHECK_FALSE(f.runs->start(std::move(wrong), f.caller_).has_value());
    CHECK(f.runs->find("long").has_value());
  }
  byte_account::set_limit(limit);
}

TEST_CASE("G18: runs that wait for room begin in the order in which they came, without those that were cancelled") {
  const auto limit = byte_account::limit();
  byte_account::set_limit(byte_account::total() + (4u << 20));
  {
    fixture f;
    byte_share held;
    held.set(8u << 20);
    f.model->endless = [](std::size_t) { return says("done"); };
    const auto start = [&](const char* name, int timeout_ms = 0) {
      auto r = fixture::ask();
      r.run = name;
      r.messages = {providers::user_message(name)};
      if (timeout_ms > 0) r.limits.timeout_ms = timeout_ms;
      f.run(std::move(r));
    };
    for (const auto* name : {"a", "b", "c"}) start(name);
    start("brief", 2'000);
    start("d");
    f.runs->cancel("b", "enough");
    f.settle();
    CHECK(f.runs->active() == 4);
    f.time.advance(milliseconds(2'000));
    f.settle();
    CHECK(f.runs->active() == 3);
    CHECK(f.model->requests.empty());
    held.set(0);
    start("e");  // other runs wait before it, though there is room now
    CHECK(f.model->requests.empty());
    f.time.advance(milliseconds(0));  // no polling: freeing bytes has called the waiting runs
    f.settle();
    std::string begun;
    for (const auto& r : f.model->requests) begun += r.messages.back()->text();
    CHECK(begun == "acde");
    CHECK(f.runs->active() == 0);
  }
  byte_account::set_limit(limit);
}

TEST_CASE("E1: a look at a run that fails by a fault is answered with it, and counts no longer") {
  fixture f;
  f.unproven = "nothing is kept of a look";
  f.model->broken = true;
  std::size_t failed = 0;
  const auto look = [&](const std::function<void(result<run_preview>)>& then) {
    f.runs->preview(fixture::ask(), then);
    f.settle();
  };
  // More than the limit of runs, so that one that went on counting would be refused.
  for (int i = 0; i < 1'100; ++i)
    look([&](const result<run_preview>& seen) {
      failed += !seen && seen.error().code == errc::internal && seen.error().message.contains("a broken model") ? 1 : 0;
    });
  CHECK(failed == 1'100);
  f.model->broken = false;
  bool good = false;
  look([&](const result<run_preview>& seen) { good = seen.has_value(); });
  CHECK(good);
}

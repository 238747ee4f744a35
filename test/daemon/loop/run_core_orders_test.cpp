// Every order of events for small runs, with a cancel, a time-out or a failure at each step; and what a crash after any
// record leaves behind.
#include "daemon/loop/run_core.hpp"
#include "test/daemon/loop/core_script.hpp"

#include <doctest/doctest.h>

#include <cstddef>
#include <functional>
#include <string>
#include <variant>
#include <vector>

using namespace mcpbx;
using namespace mcpbx::daemon;
using namespace mcpbx::daemon::test;

namespace {

std::string print(const run_record& r) {
  std::string line(name_of(r));
  if (const auto* x = std::get_if<record::call_result>(&r))
    line += " " + x->call_id + " " + std::string(x->result.text());
  if (const auto* x = std::get_if<record::run_ended>(&r))
    line += " " + std::string(to_string(x->reason)) + " " + x->text;
  if (const auto* x = std::get_if<record::cancel>(&r)) line += " " + std::string(to_string(x->why));
  return line;
}

lines print_all(const std::vector<run_record>& records) {
  lines all;
  for (const auto& r : records) all.push_back(print(r));
  return all;
}

// For every prefix: the fold starts what the live run started there, and its history is valid.
void check_prefixes(const script& s) {
  run_core core;
  for (std::size_t i = 0; i < s.records.size(); ++i) {
    core.apply(s.records[i]);
    REQUIRE(test::print(core.commands()) == s.started[i]);
    REQUIRE(fault_of(core.messages()) == "");
  }
}

// After a crash at any record recovery ends the run properly, and a crash during recovery changes nothing.
void check_recovery(const script& s) {
  for (std::size_t cut = 1; cut < s.records.size(); ++cut) {
    const auto rest = fold(s.records, cut).recovery();
    std::vector<run_record> all(s.records.begin(), s.records.begin() + static_cast<std::ptrdiff_t>(cut));
    for (std::size_t done = 0; done < rest.size(); ++done) {
      const auto again = fold(all, all.size()).recovery();
      const std::vector<run_record> expected(rest.begin() + static_cast<std::ptrdiff_t>(done), rest.end());
      REQUIRE(print_all(again) == print_all(expected));
      all.push_back(rest[done]);
    }
    REQUIRE(fault_of(all) == "");
    REQUIRE(fault_of(fold(all, all.size()).messages()) == "");
  }
}

// A run that goes on after a crash at any record ends properly, and its records are those of one run.
void check_resumption(const script& s) {
  for (std::size_t cut = 1; cut < s.records.size(); ++cut) {
    script again(std::vector<run_record>(s.records.begin(), s.records.begin() + static_cast<std::ptrdiff_t>(cut)));
    for (int steps = 0; !again.core.ended() && steps < 100; ++steps) {
      again.settle();
      if (again.core.ended()) break;
      if (again.model_open)
        again.model(reply("done"));
      else if (!again.asked.empty())
        again.says(again.asked.front(), true);
      else if (!again.running.empty())
        again.answer(answered(again.running.front()));
      else
        again.gives();
    }
    REQUIRE(again.core.ended());
    REQUIRE(fault_of(again.records) == "");
    REQUIRE(fault_of(again.core.messages()) == "");
    // The fold of all its records is the same run, whatever a crash in the middle did.
    const auto whole = fold(again.records, again.records.size());
    REQUIRE(whole.ended());
    REQUIRE(whole.text() == again.core.text());
    REQUIRE(fault_of(whole.messages()) == "");
  }
}

struct explorer {
  std::size_t max_rounds_played;  // model replies with calls
  std::size_t calls;              // of such a reply
  bool inject = true;             // cancels and time-outs
  bool people = false;            // calls that need a yes, and calls of the caller's own tools
  bool lanes = false;             // the calls of a reply run one after another
  bool again = false;             // a call that is under way may be made once more
  std::size_t runs = 0;

  void finished(const script& s) {
    ++runs;
    REQUIRE(s.core.ended());
    REQUIRE(fault_of(s.records) == "");
    REQUIRE(fault_of(s.core.messages()) == "");
    REQUIRE(s.running.empty());
    REQUIRE_FALSE(s.model_open);
    REQUIRE(s.core.calls().size() <= max_rounds_played * calls);
    check_prefixes(s);
    if (runs % 211 == 1) {
      check_recovery(s);
      check_resumption(s);
    }
  }

  std::vector<record::assistant> replies(std::size_t rounds) const {
    auto all = plain_replies(rounds);
    if (lanes)
      for (auto& r : all) r.lanes.assign(r.message->calls().size(), 1);
    return all;
  }
  std::vector<record::assistant> plain_replies(std::size_t rounds) const {
    std::vector<record::assistant> all;
    all.push_back(reply("done"));
    if (rounds >= max_rounds_played) return all;
    std::vector<providers::tool_call_block> some;
    for (std::size_t i = 0; i < calls; ++i)
      some.push_back(call("r" + std::to_string(rounds) + "c" + std::to_string(i)));
    all.push_back(reply("", some));
    if (people) {
      some.front().name = "guarded";
      some.back().name = "mine";
      all.push_back(reply("", some));
      return all;
    }
    all.push_back(reply("", some, providers::end_reason::length));
    some.front().name = "unknown";
    some.back().problem = "no JSON";
    some.back().arguments = {};
    all.push_back(reply("text", some));
    return all;
  }

  // `injected`: a cancel or time-out came already. A second one may follow a first only when the shell's store failed.
  void explore(const script& s, std::size_t rounds, bool injected) {
    if (s.core.ended()) return finished(s);
    if (inject && !injected) {
      for (auto why : {stop_reason::cancelled, stop_reason::timeout}) {
        script next = s;
        next.take(record::cancel{why, ""});
        explore(next, rounds, true);
      }
    }
    if (inject && injected && s.todo.size() == 1) {
      script next = s;
      next.take(record::cancel{stop_reason::store_error, "disk full"});
      next.settle();
      REQUIRE(next.core.reason() == stop_reason::store_error);
      finished(next);
    }
    if (!s.todo.empty()) {
      script next = s;
      next.carry_out_one();
      return explore(next, rounds, injected);
    }
    if (s.model_open) {
      for (auto& r : replies(rounds)) {
        script next = s;
        next.model_open = false;
        next.take(r);
        explore(next, rounds + 1, injected);
      }
      script next = s;
      next.model_open = false;
      providers::model_error e;
      e.message = "gone";
      next.take(record::model_failed{e, 1});
      explore(next, rounds, injected);
    }
    for (const auto& question : s.asked) {
      for (bool yes : {false, true}) {
        script next = s;
        std::erase(next.asked, question);
        next.take(record::answer{question, raw_json::own(yes ? R"({"approve":true})" : R"({"approve":false})"), false});
        explore(next, rounds, injected);
      }
      script next = s;
      std::erase(next.asked, question);
      next.take(record::answer{question, {}, true, true});
      explore(next, rounds, injected);
    }
    if (s.handed_over) {
      script next = s;
      next.gives();
      explore(next, rounds, injected);
    }
    for (std::size_t i = 0; i < s.running.size(); ++i) {
      const auto id = s.running[i];
      if (again && s.core.attempts(id) == 1) {
        script next = s;
        next.running.erase(next.running.begin() + static_cast<std::ptrdiff_t>(i));
        record::call_intent second;
        second.call_id = id;
        second.attempt = 2;
        second.repeatable = true;
        next.take(second);
        explore(next, rounds, injected);
      }
      // Which of them fails matters for counting only: the first of a level can.
      for (bool fails : {false, true}) {
        if (fails && !id.ends_with("c0")) continue;
        script next = s;
        next.running.erase(next.running.begin() + static_cast<std::ptrdiff_t>(i));
        next.take(fails ? failed(id) : answered(id));
        explore(next, rounds, injected);
      }
    }
  }
};

run_limits small(int rounds, int concurrency, on_tool_error errors = on_tool_error::go_on) {
  run_limits l;
  l.max_rounds = rounds;
  l.tool_concurrency = concurrency;
  l.on_tool_error = errors;
  return l;
}

}  // namespace

TEST_CASE("run_core: every order of one round of three calls keeps the rules") {
  for (int concurrency : {1, 2, 3})
    for (auto errors : {on_tool_error::go_on, on_tool_error::stop}) {
      explorer e{1, 3};
      e.explore(script(small(2, concurrency, errors)), 0, false);
      CHECK(e.runs > 100);
    }
}

TEST_CASE("run_core: every order of two rounds of two calls keeps the rules") {
  for (int rounds : {1, 2, 3}) {
    explorer e{2, 2};
    e.explore(script(small(rounds, 2)), 0, false);
    CHECK(e.runs > 100);
  }
}

TEST_CASE("run_core: every order of two rounds of three calls keeps the rules") {
  explorer e{2, 3, false};
  e.explore(script(small(4, 3)), 0, false);
  CHECK(e.runs > 100);
}

TEST_CASE("run_core: every order of rounds with questions and the caller's own tools keeps the rules") {
  for (int concurrency : {1, 3})
    for (auto errors : {on_tool_error::go_on, on_tool_error::stop}) {
      explorer e{1, 3, true, true};
      e.explore(script(small(2, concurrency, errors)), 0, false);
      CHECK(e.runs > 100);
    }
  explorer e{2, 2, true, true};
  e.explore(script(small(3, 2)), 0, false);
  CHECK(e.runs > 1000);
}

TEST_CASE("run_core: every order of calls that run one after another or are made again keeps the rules") {
  for (bool people : {false, true}) {
    explorer e{1, 3, true, people, true};
    e.explore(script(small(2, 3)), 0, false);
    CHECK(e.runs > 50);
  }
  explorer e{1, 2, true, false, false, true};
  e.explore(script(small(2, 2)), 0, false);
  CHECK(e.runs > 100);
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

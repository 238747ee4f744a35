// Runs that an earlier process left: gone on with from their records.
#include "daemon/loop/recovery.hpp"
#include "daemon/loop/runner.hpp"
#include "test/daemon/loop/loop_fixture.hpp"

#include <doctest/doctest.h>

#include <string>
#include <vector>

using namespace mcpbx;
using namespace mcpbx::daemon;
using namespace mcpbx::daemon::test;

namespace {

run_request detached(const std::string& name) {
  auto r = fixture::ask();
  r.run = name;
  r.detach = true;
  return r;
}

/// The records of a detached run that has called "lookup" and waits for it.
std::vector<run_record> left_in_a_call() {
  fixture f;
  f.server->hold["lookup"] = true;
  f.model->script = {calls({call("a", "srv__lookup")}), says("never said")};
  f.run(detached("long"));
  return f.written();
}

/// The records of a run that waits for its caller's tool.
std::vector<run_record> left_parked(std::int64_t question_timeout_ms = 60'000) {
  fixture f;
  f.model->script = {calls({call("a", "mine")})};
  auto r = fixture::ask();
  r.run = "long";
  r.limits.question_timeout_ms = question_timeout_ms;
  r.client_tools = {raw_json::own(R"({"name":"mine","inputSchema":{"type":"object"}})")};
  f.run(std::move(r));
  return f.written();
}

/// The records of a detached run that waits for a yes.
std::vector<run_record> left_asking() {
  fixture f;
  f.offer({"guarded"});
  f.model->script = {calls({call("a", "srv__guarded")})};
  auto r = detached("long");
  r.limits.question_timeout_ms = 60'000;
  f.run(std::move(r));
  return f.written();
}

run_request results_of_its_caller() {
  run_request results;
  results.run = "long";
  results.results = {{"a", text_result("mine")}};
  return results;
}

// What goes on is not held against a fold of what this process wrote: its beginning is not in there.
struct next_process : fixture {
  next_process() { unproven = "its records begin in another process"; }
  memory_journal disk{true};
  void resume(std::vector<run_record> records) {
    unfinished_run left;
    left.run = "long";
    left.journal = disk.open_run("long");
    left.records = std::move(records);
    runs->resume(std::move(left));
    settle();
  }
  const std::vector<run_record>& added() const { return *disk.kept().back().second; }
};

}  // namespace

TEST_CASE("L18 G23: a run that ended before a restart is told from the journal, with its snapshot and its result") {
  struct ended_journal final : journal {
    std::unique_ptr<run_journal> open_run(const std::string& run) override { return none.open_run(run); }
    bool keeps_sessions() const override { return true; }
    void find_ended(std::string run, answer<std::vector<run_record>> then) override {
      if (run == "broken") return then(fail(errc::io, "the journal cannot be read"));
      if (run != "long") return then(fail(errc::not_found, "no"));
      then(records);
    }
    std::vector<run_record> records;
    memory_journal none;
  } disk;
  {
    fixture f;
    f.model->script = {says("hello")};
    auto r = detached("long");
    r.likeness = 7;
    f.run(std::move(r));
    disk.records = f.written();
  }
  fixture f(false, &disk);
  f.unproven = "nothing is run";
  std::vector<result<runner::recalled_run>> got;
  const auto take = [&](result<runner::recalled_run> found) { got.push_back(std::move(found)); };
  f.runs->recall("long", 0, take);
  f.runs->recall("long", 7, take);
  REQUIRE(got.size() == 2);
  for (const auto& found : got) {
    REQUIRE(found.has_value());
    caller c;
    c.read(*found->feed, {.after = 3});
    REQUIRE(c.events.size() == 1);
    CHECK(contains(c.events[0], "\"type\":\"snapshot\""));
    CHECK(c.member("run") == "long");
    CHECK(c.member("text") == "hello");
    CHECK(c.member("stopReason") == "final");
  }
  got.clear();
  f.runs->recall("long", 8, take);
  f.runs->recall("other", 0, take);
  f.runs->recall("broken", 0, take);
  std::get<record::run_started>(disk.records.front()).detached = false;
  f.runs->recall("long", 7, take);
  f.runs->recall("long", 0, take);
  REQUIRE(got.size() == 5);
  CHECK(got[0].error().code == errc::not_found);
  CHECK(got[1].error().message == "no run is named \"other\"; it may have ended");
  CHECK(got[2].error().message == "the journal cannot be read");
  CHECK(got[3].error().code == errc::not_found);
  CHECK(got[4].has_value());
}

TEST_CASE("L18 G24: whoever repeats its request after a crash finds the run that goes on") {
  auto records = left_in_a_call();
  std::get<record::run_started>(records.front()).likeness = 7;
  next_process f;
  f.model->script = {silent()};
  f.resume(records);
  auto r = detached("long");
  r.likeness = 7;
  CHECK(f.runs->start(r).has_value());
  r.likeness = 8;
  CHECK(contains(f.runs->start(r).error().message, "was asked for something else"));
  CHECK(f.runs->active() == 1);
}

TEST_CASE("G24: only runs that were detached, or wait for their caller's tools, go on") {
  CHECK(goes_on(left_in_a_call()));
  auto records = left_in_a_call();
  std::get<record::run_started>(records.front()).detached = false;
  CHECK_FALSE(goes_on(records));
  CHECK_FALSE(goes_on({}));
  CHECK_FALSE(goes_on(left_in_a_call(), false));  // loop.resumeDetached
}

TEST_CASE("G24: a detached run goes on where its records end, and no call is silently made twice") {
  const auto records = left_in_a_call();
  next_process f;
  f.model->script = {says("done after all")};
  f.resume(records);
  CHECK(f.server->params.empty());
  CHECK(f.runs->active() == 0);
  std::vector<run_record> all = records;
  all.insert(all.end(), f.added().begin(), f.added().end());
  CHECK(fault_of(all) == "");
  const auto feed = f.runs->find("long");
  REQUIRE(feed.has_value());
  CHECK(find_member((*feed)->result(), "text").as_string() == "done after all");
  CHECK(contains((*feed)->result().text(), "it may have taken effect"));
}

TEST_CASE("L8 G24: time that the run had used counts after a restart, time without a process does not") {
  auto records = left_in_a_call();
  for (auto& r : records)
    if (auto* round = std::get_if<record::round_started>(&r)) round->elapsed_ms = 119'000;
  next_process f;
  f.model->script = {silent()};
  f.resume(records);
  CHECK(f.runs->active() == 1);
  f.time.advance(milliseconds(999));
  f.settle();
  CHECK(f.runs->active() == 1);
  f.time.advance(milliseconds(1));
  f.settle();
  CHECK(f.runs->active() == 0);
  CHECK(std::get<record::run_ended>(f.added().back()).reason == stop_reason::timeout);
}

TEST_CASE("L21 G24: a run that waits for its caller's tools waits in the next process too") {
  const auto records = left_parked();
  CHECK(goes_on(records));
  CHECK(goes_on(records, false));
  next_process f;
  f.model->script = {says("done")};
  f.resume(records);
  CHECK(f.runs->active() == 1);
  f.run(results_of_its_caller());
  CHECK(f.caller_.member("text") == "done");
}

TEST_CASE("L21 G24: results that come while the servers still start are taken, and the run waits for its tools") {
  next_process f;
  f.tools.settled = false;
  f.model->script = {says("done")};
  f.resume(left_parked());
  caller early;
  early.read(**f.runs->find("long"));
  CHECK(early.member("stopReason") == "caller_tools");
  f.run(results_of_its_caller());
  CHECK(f.caller_.done.empty());
  CHECK(f.model->requests.empty());
  f.tools.waiting();
  f.settle();
  CHECK(f.caller_.member("stopReason") == "final");
  CHECK(f.caller_.member("text") == "done");
}

TEST_CASE(
    "L8 L21 G24: a run that waits for its caller's tools has no more time in the next process than it was given") {
  for (const bool in_time : {true, false}) {
    next_process f;
    f.time.advance(milliseconds(50'000));  // nobody was there meanwhile
    f.model->script = {says("done")};
    f.resume(left_parked());
    f.time.advance(milliseconds(in_time ? 9'999 : 10'000));
    f.settle();
    REQUIRE(f.runs->active() == (in_time ? 1 : 0));
    if (in_time) f.run(results_of_its_caller());
    CHECK(std::get<record::run_ended>(f.added().back()).reason ==
          (in_time ? stop_reason::final : stop_reason::caller_tools));
  }
}

TEST_CASE("L19 G24: a question is asked again with the time that is left, and answered while the servers still start") {
  const auto records = left_asking();
  const auto& question = std::get<record::question>(records.back());
  for (const bool early : {true, false}) {
    next_process f;
    f.time.advance(milliseconds(50'000));
    f.offer({"guarded"});
    f.tools.settled = !early;
    f.model->script = {says("done")};
    f.resume(records);
    caller watcher;
    watcher.read(**f.runs->find("long"), {.after = 5});
    CHECK(watcher.of("snapshot").size() == 1);
    CHECK(watcher.of("round") == lines{R"({"type":"round","round":1,"model":"scripted"})"});
    REQUIRE(watcher.of("question").size() == 1);
    CHECK(contains(watcher.of("question")[0], "\"question\":\"" + question.id + "\""));
    CHECK(contains(watcher.of("question")[0], R"("tool":"srv__guarded","arguments":{"of":"a"})"));
    if (early) {
      bool kept = false;
      f.runs->answer("long", question.id, raw_json::literal(R"({"approve":true})"),
                     [&](const result<void>& outcome) { kept = outcome.has_value(); });
      f.settle();
      CHECK(f.server->params.empty());
      f.tools.waiting();
      f.settle();
      CHECK(kept);
      CHECK(f.server->params.size() == 1);
      f.time.advance(milliseconds(10'000));
      f.settle();
    } else {
      f.time.advance(milliseconds(9'999));
      f.settle();
      CHECK(f.runs->active() == 1);
      f.time.advance(milliseconds(1));
      f.settle();
      CHECK(contains(watcher.of("tool_result").at(0), "nobody answered in time"));
    }
    CHECK(watcher.of("question").size() == 1);
    CHECK(watcher.member("stopReason") == "final");
  }
}

TEST_CASE("G24: a run whose model is gone is not gone on with, and its journal closes it") {
  auto records = left_in_a_call();
  std::get<record::run_started>(records.front()).model = "gone";
  next_process f;
  f.resume(records);
  CHECK(f.runs->active() == 0);
  CHECK(f.model->requests.empty());
  std::vector<run_record> all = records;
  all.insert(all.end(), f.added().begin(), f.added().end());
  CHECK(fault_of(all) == "");
  CHECK(std::get<record::run_ended>(f.added().back()).reason == stop_reason::interrupted);
}

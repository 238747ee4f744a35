// Runs that an earlier process left: the next process resumes them from their records.
#include "daemon/loop/core/recovery.hpp"
#include "daemon/loop/run/runner.hpp"
#include "test/daemon/loop/next_process.hpp"

#include <doctest/doctest.h>

#include <cstdint>
#include <string>
#include <utility>
#include <variant>
#include <vector>

using namespace mcpbx;
using namespace mcpbx::daemon::core;
using namespace mcpbx::daemon::run;
using namespace mcpbx::daemon::store;
using namespace mcpbx::daemon::stored;
using namespace mcpbx::daemon::test;
using namespace mcpbx::json;

namespace {

constexpr std::int64_t day_ms = 86'400'000;

/// Returns the records of a detached run that has called "lookup" and waits for its result.
std::vector<run_record> left_in_a_call(bool repeatable = false) {
  fixture f;
  f.server->hold["lookup"] = true;
  f.model->script = {calls({call("a", "srv__lookup")}), says("never said")};
  f.run(detached("long"));
  auto records = f.written();
  std::get<record::call_intent>(records.back()).repeatable = repeatable;
  return records;
}

/// Offers only `lookup` and allows its calls to be repeated.
void offer_with_retries(fixture& f) {
  auto lookup = std::make_shared<mcp::catalogs::catalog_entry>(*f.entry("lookup"));
  lookup->manner.max_retries = 2;
  f.tools.catalog =
      std::make_shared<mcp::catalogs::catalog>(std::vector<mcp::catalogs::entry_ptr>{std::move(lookup)}, 9);
}

/// Returns the records of a run that waits for the results of its caller's tools.
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

run_request results_of_its_caller() {
  run_request results;
  results.run = "long";
  results.results = {{"a", text_result("mine")}};
  return results;
}

/// A journal that keeps its runs, as if they were on a disk.
struct kept_on final : journal {
  std::unique_ptr<run_journal> open_run(const std::string& run) override { return records.open_run(run); }
  bool keeps_sessions() const override { return true; }
  memory_journal records{true};
};

/// The first base of stopping_process, so that the journal is there before the fixture.
struct disk_first {
  kept_on disk;
};
/// A process that is told to stop. stop() returns once the runs have had `grace` to end.
struct stopping_process : disk_first, fixture {
  stopping_process() : fixture(false, &disk) { unproven = "its records are on a disk of its own"; }
  bool stop(milliseconds grace = milliseconds(3'000)) {
    bool joined = false;
    asio::co_spawn(
        context, [this, grace]() -> asio::awaitable<void> { co_await runs->shut_down(grace); },
        [&](std::exception_ptr e) { joined = !e; });
    settle();
    at_once = joined;
    time.advance(grace);
    settle();
    return joined;
  }
  const std::vector<run_record>& records() const { return *disk.records.kept().back().second; }
  bool at_once = false;  // stop() was done before `grace` had passed
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
    CHECK(c.events[0] ==
          R"({"type":"snapshot","round":1,"model":"scripted","text":"hello","calls":[],"questions":[]})");
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

TEST_CASE("L18 G24: a process of a millisecond can number a thousand events before the next one's numbers begin") {
  const auto first_number = [](milliseconds later) {
    next_process f;
    f.time.jump_wall(later);
    f.model->script = {silent()};
    f.resume(left_in_a_call());
    const auto feed = f.runs->find("long");
    REQUIRE(feed.has_value());
    f.caller_.read(**feed);
    f.settle();
    REQUIRE_FALSE(f.caller_.numbers.empty());
    return f.caller_.numbers.front();
  };
  const auto before = first_number(milliseconds(0));
  CHECK(first_number(milliseconds(1)) >= before + 1'000);
  CHECK(first_number(milliseconds(100 * 365 * day_ms)) < std::uint64_t{1} << 53);  // exact in JSON readers
}

TEST_CASE("G20 L18: a cancel that comes when the run is being left for the next process is refused, not answered") {
  stopping_process f;
  f.server->hold["lookup"] = true;
  f.model->script = {calls({lookup("a")})};
  f.run(detached("long"));
  bool joined = false, stopping = false;
  asio::co_spawn(
      f.context,
      [&]() -> asio::awaitable<void> {
        stopping = true;
        co_await f.runs->shut_down(milliseconds(0));
      },
      [&](std::exception_ptr) { joined = true; });
  f.context.restart();
  while (!stopping) f.context.poll_one();
  result<void> outcome;
  CHECK(f.runs->cancel("long", "enough", [&](result<void> kept) { outcome = std::move(kept); }));
  f.settle();
  CHECK(joined);
  REQUIRE_FALSE(outcome);
  CHECK(outcome.error().code == errc::unavailable);
}

TEST_CASE("L18 G24: a run that the journal has without an end is not there for the taking, unless it goes on here") {
  struct unsure_journal final : journal {
    std::unique_ptr<run_journal> open_run(const std::string& run) override { return none.open_run(run); }
    void find_ended(std::string, answer<std::vector<run_record>> then) override { looking = std::move(then); }
    answer<std::vector<run_record>> looking;
    memory_journal none;
  } disk;
  fixture f(false, &disk);
  f.unproven = "its records are on a disk of its own";
  std::vector<error> got;
  const auto look = [&] { f.runs->recall("long", 7, [&](const auto& found) { got.push_back(found.error()); }); };
  look();
  disk.looking(fail(errc::unavailable, "the run long has no end yet"));
  look();
  f.model->script = {silent()};
  CHECK(f.runs->start(detached("long")).has_value());
  f.settle();
  disk.looking(fail(errc::unavailable, "the run long has no end yet"));
  REQUIRE(got.size() == 2);
  CHECK(got[0].message == "the run long has no end yet");
  CHECK(got[1].code == errc::not_found);
  CHECK(f.runs->find("long").has_value());
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
  CHECK(contains(f.runs->start(r).error().message, "was started by a different request"));
  CHECK(f.runs->active() == 1);
}

TEST_CASE("G24: only runs that were detached, or wait for their caller's tools, go on") {
  CHECK(goes_on(left_in_a_call()));
  auto records = left_in_a_call();
  std::get<record::run_started>(records.front()).detached = false;
  CHECK_FALSE(goes_on(records));
  CHECK_FALSE(goes_on({}));
  CHECK_FALSE(goes_on(left_in_a_call(), false));  // loop.resumeDetached is false
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

TEST_CASE(
    "F8 G24: a call that was not made before a restart reaches the tool that its name meant when the model used it") {
  auto records = left_in_a_call();
  REQUIRE(std::holds_alternative<record::call_intent>(records.back()));
  records.pop_back();
  next_process f;
  f.list({{"other", "srv__lookup"}, {"lookup", "srv__lookup_123456"}});
  f.model->script = {calls({call("b", "srv__lookup")}), says("done")};
  f.resume(records);
  CHECK(f.called() == lines{"lookup", "lookup"});

  // The same holds for a run in a session, by the names that the session's runs have called.
  next_process g;
  g.list({{"other", "srv__lookup"}, {"lookup", "srv__lookup_123456"}});
  g.model->script = {says("done")};
  auto& reply = std::get<record::assistant>(records.back());
  std::get<record::run_started>(records.front()).inherited_tools = std::exchange(reply.tools, {});
  g.resume(std::move(records));
  CHECK(g.called() == lines{"lookup"});
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
    f.time.advance(milliseconds(50'000));  // no process runs meanwhile
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

TEST_CASE("L19 G24: a clock that was set back over a restart gives a question no more than its whole time") {
  next_process f;
  f.time.jump_wall(milliseconds(-86'400'000));
  f.offer({"guarded"});
  f.model->script = {says("done")};
  f.resume(left_asking());
  caller watcher;
  watcher.read(**f.runs->find("long"));
  REQUIRE(watcher.of("question").size() == 1);
  const auto expires = find_member(*raw_json::parse(watcher.of("question")[0]), "expiresMs").as_integer();
  CHECK(expires == f.time.wall_ms() + 60'000);
  f.time.advance(milliseconds(60'000));
  f.settle();
  CHECK(contains(watcher.of("tool_result").at(0), "nobody answered in time"));
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
  const auto& end = std::get<record::run_ended>(f.added().back());
  CHECK(end.reason == stop_reason::interrupted);
  CHECK(contains(end.text, "the run was active when the daemon stopped, and could not be continued: "));
  CHECK(contains(end.text, "gone"));
}

TEST_CASE("G24 L17: a run that goes on waits for the servers of its open calls as long as these are starting") {
  for (const bool comes : {true, false}) {
    CAPTURE(comes);
    next_process f;
    f.offer({});
    f.tools.settled = false;
    f.model->script = {says("done after all")};
    f.resume(left_in_a_call(true));
    for (int second = 0; second < 5; ++second) {
      f.time.advance(milliseconds(1'000));
      f.tools.waiting();
      f.settle();
      REQUIRE(f.added().empty());
    }
    if (comes) offer_with_retries(f);
    f.tools.waiting();  // no server is starting any more
    f.settle();
    CHECK(f.runs->active() == 0);
    CHECK(f.server->params.size() == (comes ? 1 : 0));
    const auto told = std::string((*f.runs->find("long"))->result().text());
    CHECK(contains(told, "done after all"));
    CHECK_FALSE(contains(told, "Not executed"));
    CHECK(contains(told, "it may have taken effect. It was not made again: there is no tool named") != comes);
  }
}

TEST_CASE("G24 L19: a yes that is given while its server starts is kept, and the call is made when it is there") {
  const auto records = left_asking();
  next_process f;
  f.offer({});
  f.tools.settled = false;
  f.model->script = {says("done")};
  f.resume(records);
  bool kept = false;
  f.runs->answer("long", std::get<record::question>(records.back()).id, raw_json::literal(R"({"approve":true})"),
                 [&](const result<void>& outcome) { kept = outcome.has_value(); });
  f.time.advance(milliseconds(1'000));
  f.tools.waiting();
  f.settle();
  CHECK(f.added().empty());
  f.offer({"guarded"});
  f.time.advance(milliseconds(1'000));
  f.tools.waiting();
  f.settle();
  CHECK(kept);
  CHECK(f.server->params.size() == 1);
}

TEST_CASE("G24: after a loss of power no call of a run is made by itself, whatever is left of its records") {
  const auto whole = left_in_a_call();
  for (std::size_t left = 1; left <= whole.size(); ++left) {
    for (const bool repeatable : {false, true}) {
      CAPTURE(left);
      auto records = left_in_a_call(repeatable);
      records.resize(std::min(left, records.size()));
      const bool replied =
          std::ranges::any_of(records, [](const auto& r) { return std::holds_alternative<record::assistant>(r); });
      records.emplace_back(record::taken_over{{}, true});
      next_process f;
      f.model->script = {says("done after all")};
      f.resume(records);
      CHECK(f.server->params.empty());
      CHECK(f.runs->active() == 0);
      auto all = records;
      all.insert(all.end(), f.added().begin(), f.added().end());
      CHECK(fault_of(all) == "");
      const auto result = std::string((*f.runs->find("long"))->result().text());
      // Without a reply the effects of the round are unknown, so the run ends. With one, the model is told.
      CHECK(contains(result, replied ? R"("stopReason":"final")" : R"("stopReason":"interrupted")"));
      CHECK(contains(result, "may have taken effect"));
      CHECK(f.model->requests.size() == (replied ? 1 : 0));
    }
  }
}

TEST_CASE("G24: a run that another process goes on with without a loss of power goes on where its records end") {
  auto records = left_in_a_call();
  records.emplace_back(record::taken_over{"the daemon there", false});
  next_process f;
  f.model->script = {says("done after all")};
  f.resume(records);
  CHECK(f.server->params.empty());
  CHECK(find_member((*f.runs->find("long"))->result(), "text").as_string() == "done after all");
}

TEST_CASE("G24: a call that was sent before a restart is never said not to have been executed") {
  next_process f;
  f.model->script = {silent()};
  auto records = left_in_a_call(true);
  f.tools.settled = false;
  f.resume(records);
  f.runs->cancel("long", "enough");
  f.settle();
  CHECK(f.server->params.empty());
  const auto text = std::string((*f.runs->find("long"))->result().text());
  CHECK_FALSE(contains(text, "Not executed"));
  CHECK(contains(text, "it may have taken effect. It was not made again: the run was cancelled."));
}

TEST_CASE("G24 L13: a call that an earlier process sent may have acted, also when no attempt of this one leaves") {
  next_process f;
  offer_with_retries(f);
  f.server->tools["lookup"] = [](const mcp::clients::server_call&) {
    return mcp::rpc::call_outcome::failed(errc::not_found, "the server is down");
  };
  f.model->script = {says("done")};
  f.resume(left_in_a_call(true));
  const auto* end = std::get_if<record::call_result>(&f.added().at(1));
  REQUIRE(end);
  CHECK(contains(std::string(end->result.text()), "has no result: the server is down. It may have taken effect"));
}

TEST_CASE("G24 L13: a call is not made again after a restart where the configuration does not allow that any more") {
  next_process f;  // calls of its tools may not be repeated
  f.model->script = {says("done")};
  f.resume(left_in_a_call(true));
  CHECK(f.called().empty());
  const auto* end = std::get_if<record::call_result>(&f.added().at(0));
  REQUIRE(end);
  CHECK(contains(std::string(end->result.text()), "it may have taken effect. It was not made again: "));
}

TEST_CASE("D2 G24: the settings of a run hold again after a restart, what its first round had to call does not") {
  providers::call_settings settings;
  settings.temperature = "0.3";
  settings.stop = {"END"};
  std::vector<run_record> left;
  {
    fixture f;
    f.model->script = {silent()};
    auto r = detached("long");
    r.settings = settings;
    r.first_round = providers::tool_mode::required;
    f.run(std::move(r));
    CHECK(f.model->requests.at(0).tool_mode == providers::tool_mode::required);
    left = f.written();
  }
  REQUIRE(std::holds_alternative<record::round_started>(left.back()));
  next_process f;
  f.model->script = {calls({lookup("a")}), says("done")};
  f.resume(left);
  REQUIRE(f.model->requests.size() == 2);
  for (const auto& q : f.model->requests) {
    CHECK(q.settings == settings);
    CHECK(q.tool_mode == providers::tool_mode::automatic);
  }
}

TEST_CASE("G20 L18: a detached run that a graceful stop finds going on is left as a crash would leave it") {
  std::vector<run_record> left;
  {
    stopping_process f;
    f.server->hold["lookup"] = true;
    f.model->script = {calls({lookup("a")})};
    f.run(detached("long"));
    caller watcher;
    watcher.read(**f.runs->find("long"));
    CHECK(f.stop());
    CHECK_FALSE(f.at_once);
    CHECK(f.server->cancelled == 1);
    REQUIRE(watcher.refused.size() == 1);
    CHECK(watcher.refused[0].code == errc::unavailable);
    CHECK(contains(watcher.refused[0].message, "\"long\" goes on when it is started again"));
    left = f.records();
  }
  CHECK(std::holds_alternative<record::call_intent>(left.back()));
  CHECK(goes_on(left));
  next_process f;
  f.model->script = {says("done after all")};
  f.resume(left);
  CHECK(find_member((*f.runs->find("long"))->result(), "text").as_string() == "done after all");
}

TEST_CASE("G20 L18: a detached run may still end while the daemon stops") {
  stopping_process f;
  f.server->hold["lookup"] = true;
  f.model->script = {calls({lookup("a")}), says("done")};
  f.run(detached("long"));
  asio::post(f.context, [&] { f.server->release(); });
  CHECK(f.stop());
  CHECK(f.at_once);
  CHECK(std::get<record::run_ended>(f.records().back()).reason == stop_reason::final);
}

TEST_CASE("G20 L21: a parked run stays parked through a graceful stop, which does not wait for it") {
  std::vector<run_record> left;
  {
    stopping_process f;
    f.model->script = {calls({call("a", "mine")})};
    auto r = fixture::ask();
    r.run = "long";
    r.client_tools = {raw_json::own(R"({"name":"mine","inputSchema":{"type":"object"}})")};
    f.run(std::move(r));
    CHECK(f.caller_.member("stopReason") == "caller_tools");
    CHECK(f.stop());
    CHECK(f.at_once);
    left = f.records();
  }
  CHECK(std::holds_alternative<record::parked>(left.back()));
  next_process f;
  f.model->script = {says("done")};
  f.resume(left);
  f.run(results_of_its_caller());
  CHECK(f.caller_.member("text") == "done");
}

TEST_CASE("G20 L21: who asks for a parked run that was left is told that it goes on later, not that it is gone") {
  stopping_process f;
  f.server->hold["lookup"] = true;
  f.model->script = {calls({call("a", "mine")}), calls({lookup("b")}), says("done")};
  auto r = fixture::ask();
  r.run = "long";
  r.client_tools = {raw_json::own(R"({"name":"mine","inputSchema":{"type":"object"}})")};
  f.run(std::move(r));
  f.caller_.done = {};
  f.run(detached("other"));  // shut_down() waits for this run
  bool joined = false;
  asio::co_spawn(
      f.context, [&]() -> asio::awaitable<void> { co_await f.runs->shut_down(milliseconds(3'000)); },
      [&](std::exception_ptr) { joined = true; });
  f.settle();
  REQUIRE_FALSE(joined);
  const auto told = [](const auto& answer) {
    REQUIRE_FALSE(answer);
    CHECK(answer.error().code == errc::unavailable);
    CHECK_MESSAGE(contains(answer.error().message, "goes on when it is started again"), answer.error().message);
  };
  told(f.runs->start(results_of_its_caller()));
  told(f.runs->find("long"));
  result<void> answered;
  f.runs->answer("long", "q", raw_json::literal("{}"), [&](result<void> done) { answered = std::move(done); });
  f.settle();
  told(answered);
  f.time.advance(milliseconds(3'000));
  f.settle();
  CHECK(joined);
}

TEST_CASE(
    "G20: a run that is handed over while the daemon stops is left for the next one, and nothing is added to it") {
  const auto records = left_in_a_call();
  next_process f;
  bool joined = false;
  asio::co_spawn(
      f.context, [&]() -> asio::awaitable<void> { co_await f.runs->shut_down(milliseconds(0)); },
      [&](std::exception_ptr) { joined = true; });
  f.settle();
  REQUIRE(joined);
  f.resume(records);
  CHECK(f.runs->active() == 0);
  const auto asked = f.runs->find("long");
  REQUIRE_FALSE(asked);
  CHECK(asked.error().code == errc::unavailable);
  CHECK(f.added().empty());
}

TEST_CASE("G20: a run whose caller waits is interrupted by a graceful stop, also where runs are kept") {
  stopping_process f;
  f.model->script = {silent()};
  f.run();
  CHECK(f.stop());
  CHECK(f.caller_.member("stopReason") == "interrupted");
  CHECK(std::get<record::run_ended>(f.records().back()).reason == stop_reason::interrupted);
}

TEST_CASE("L8 G24: the time that a detached run uses is recorded while it waits, and counts over restarts") {
  std::vector<run_record> left;
  {
    stopping_process f;
    f.server->hold["lookup"] = true;
    f.model->script = {calls({lookup("a")})};
    auto r = detached("long");
    r.limits.timeout_ms = 8'000;
    f.run(std::move(r));
    for (int i = 0; i < 3; ++i) {
      f.time.advance(milliseconds(1'000));
      f.settle();
    }
    left = f.records();  // the records that SIGKILL would leave
    f.stop(milliseconds(0));
  }
  REQUIRE(std::holds_alternative<record::time_used>(left.back()));
  CHECK(std::get<record::time_used>(left.back()).elapsed_ms == 3'000);
  next_process f;
  f.model->script = {silent()};
  f.resume(left);
  f.time.advance(milliseconds(4'999));
  f.settle();
  CHECK(f.runs->active() == 1);
  f.time.advance(milliseconds(1));
  f.settle();
  CHECK(std::get<record::run_ended>(f.added().back()).reason == stop_reason::timeout);
}

TEST_CASE("L8 L21 G24: the time that a run used before it was parked counts after a restart") {
  auto records = left_parked();
  std::get<record::parked>(records.back()).elapsed_ms = 119'000;
  next_process f;
  f.model->script = {silent()};
  f.resume(records);
  f.run(results_of_its_caller());
  f.time.advance(milliseconds(999));
  f.settle();
  CHECK(f.runs->active() == 1);
  f.time.advance(milliseconds(1));
  f.settle();
  CHECK(f.caller_.member("stopReason") == "timeout");
}

TEST_CASE("L8 L21 G24: a parked run keeps to a ceiling that was lowered before it goes on") {
  for (const bool lowered : {false, true}) {
    CAPTURE(lowered);
    next_process f;
    if (lowered) f.most_rounds = 2;
    f.model->script = {calls({lookup("b")}), calls({lookup("c")}), says("done")};
    f.resume(left_parked());
    f.run(results_of_its_caller());
    CHECK(f.caller_.member("stopReason") == (lowered ? "max_rounds" : "final"));
    CHECK(f.caller_.member("rounds") == (lowered ? "3" : "4"));
    CHECK(f.called().size() == (lowered ? 1 : 2));
  }
}

TEST_CASE("L8 G24: a ceiling that was lowered holds for good, also for a round that was decided before it") {
  fixture first;
  first.model->script = {calls({lookup("a")}), calls({lookup("b")}), silent()};
  first.run(detached("long"));
  auto records = first.written();
  records.pop_back();  // the third round has not begun
  for (const auto at_limit : {limit_policy::synthesize, limit_policy::stop}) {
    std::get<record::run_started>(records.front()).limits.on_limit = at_limit;
    const bool answers = at_limit == limit_policy::synthesize;
    auto left = records;
    {
      next_process second;
      second.most_rounds = 2;
      second.model->script = {silent()};
      second.resume(records);
      CHECK(second.model->requests.size() == (answers ? 1 : 0));
      REQUIRE(second.added().size() == 2);
      CHECK(name_of(second.added().front()) == "limits_lowered");
      left.insert(left.end(), second.added().begin(), second.added().end());
    }
    const auto whole = fold(left, left.size());
    CHECK(whole.facts().limits.max_rounds == 2);
    CHECK(whole.facts().ended == !answers);
    if (!answers) {
      CHECK(whole.facts().answer.reason == stop_reason::max_rounds);
      continue;
    }
    next_process third;  // a process without that ceiling
    third.model->script = {says("done")};
    third.resume(left);
    CHECK(std::get<record::run_ended>(third.added().back()).reason == stop_reason::max_rounds);
    CHECK(std::ranges::none_of(third.added(), [](const auto& r) { return name_of(r) == "limits_lowered"; }));
  }
}

TEST_CASE("L15 G24: a run that goes on has its status lines from a model again, or goes on without that model") {
  for (const bool there : {true, false}) {
    CAPTURE(there);
    auto records = left_in_a_call();
    records.pop_back();  // the call was not sent yet
    auto& limits = std::get<record::run_started>(records.front()).limits;
    limits.status = status_mode::model;
    limits.status_model = there ? "quick" : "gone";
    next_process f;
    f.model->script = {says("done")};
    f.quick->script = {says("Looking it up")};
    f.resume(records);
    CHECK(f.quick->requests.size() == (there ? 1 : 0));
    CHECK(f.runs->active() == 0);
  }
}

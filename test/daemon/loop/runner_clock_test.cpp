// Runs while the wall clock is set a day forward or back: every wait keeps its length.
#include "test/daemon/loop/loop_fixture.hpp"

#include <doctest/doctest.h>

#include <functional>
#include <memory>
#include <string>
#include <vector>

using namespace mcpbx;
using namespace mcpbx::daemon::store;
using namespace mcpbx::daemon::stored;
using namespace mcpbx::daemon::test;

namespace {

constexpr milliseconds day{86'400'000};

/// Calls `jump`, which sets the clock, while a question is being written.
class jumping_journal final : public journal {
 public:
  std::unique_ptr<run_journal> open_run(const std::string&) override { return std::make_unique<one>(*this); }
  std::function<void()> jump;

 private:
  struct one final : run_journal {
    explicit one(jumping_journal& o) : owner(o) {}
    asio::awaitable<result<void>> append(std::vector<run_record> records, bool) override {
      for (const auto& r : records)
        if (std::holds_alternative<record::question>(r)) owner.jump();
      co_return result<void>{};
    }
    jumping_journal& owner;
  };
};

void pass(fixture& f, int ms) {
  f.time.advance(milliseconds(ms));
  f.settle();
}

}  // namespace

TEST_CASE("G27: the clock is set in a call: the run's time and the call's duration are what passed") {
  for (const auto jump : {day, -day}) {
    fixture f;
    f.server->hold["lookup"] = true;
    f.model->script = {calls({lookup("a")}), calls({lookup("b")}), says("done")};
    run_limits l;
    l.timeout_ms = 5000;
    f.run(fixture::ask(l));
    pass(f, 700);
    f.time.jump_wall(jump);
    pass(f, 300);
    f.server->release();
    f.settle();
    CHECK(contains(f.caller_.of("tool_result").at(0), "\"durationMs\":1000"));
    CHECK(std::get<record::round_started>(f.written().at(5)).elapsed_ms == 1000);
    f.time.jump_wall(jump);
    pass(f, 3999);
    CHECK(f.caller_.done.empty());
    pass(f, 1);
    CHECK(f.caller_.member("stopReason") == "timeout");
  }
}

TEST_CASE("G27: the clock is set in the back-off of a call: the next attempt comes when it would have come") {
  std::vector<milliseconds> waits;
  for (const auto jump : {milliseconds(0), day, -day}) {
    fixture f;
    auto again = std::make_shared<mcp::catalogs::catalog_entry>(*f.entry("lookup"));
    again->manner.max_retries = 2;
    f.tools.catalog = std::make_shared<mcp::catalogs::catalog>(std::vector<mcp::catalogs::entry_ptr>{again}, 9);
    f.server->tools["lookup"] = [](const mcp::clients::server_call&) {
      return mcp::rpc::call_outcome::failed(errc::unavailable, "server \"srv\" died");
    };
    f.model->script = {calls({lookup("a")}), says("done")};
    f.run();
    milliseconds waited{0};
    while (f.server->params.size() < 3 && waited < milliseconds(10'000)) {
      f.time.jump_wall(jump);
      pass(f, 10);
      waited += milliseconds(10);
    }
    waits.push_back(waited);
    CHECK(f.caller_.member("stopReason") == "final");
  }
  CHECK(waits[1] == waits[0]);
  CHECK(waits[2] == waits[0]);
}

TEST_CASE("G27: the clock is set between a question and its being shown: a person has the time that was given") {
  for (const auto jump : {day, -day}) {
    jumping_journal disk;
    fixture f(false, &disk);
    f.unproven = "the journal keeps nothing";
    disk.jump = [&] { f.time.jump_wall(jump); };
    f.offer({"guarded"});
    f.model->script = {calls({call("a", "srv__guarded")}), says("done")};
    run_limits l;
    l.question_timeout_ms = 60'000;
    f.run(fixture::ask(l));
    REQUIRE(f.caller_.of("question").size() == 1);
    pass(f, 59'999);
    CHECK(f.caller_.of("tool_result").empty());
    pass(f, 1);
    CHECK(contains(f.caller_.of("tool_result").at(0), "nobody answered in time"));
  }
}

TEST_CASE("G27: the clock is set while a question is open: a person has the time that was given") {
  for (const auto jump : {day, -day}) {
    fixture f;
    f.offer({"guarded"});
    f.model->script = {calls({call("a", "srv__guarded")}), says("done")};
    run_limits l;
    l.question_timeout_ms = 60'000;
    f.run(fixture::ask(l));
    REQUIRE(f.caller_.of("question").size() == 1);
    f.time.jump_wall(jump);
    pass(f, 59'999);
    CHECK(f.caller_.done.empty());
    pass(f, 1);
    CHECK(contains(f.caller_.of("tool_result").at(0), "nobody answered in time"));
    CHECK(f.caller_.member("stopReason") == "final");
  }
}

TEST_CASE("a run waits awake for a model or a tool that answered at once, while no more runs go on than may") {
  // Returns the number of handlers that ran in three rounds which took no time, beside `others` other active runs.
  const auto work_in = [](std::size_t awake_runs, int others = 0) {
    fixture f(false, nullptr, awake_runs);
    for (int i = 0; i < others; ++i) f.model->script.push_back(silent());
    for (int i = 0; i < 3; ++i) f.model->script.push_back(calls({call("c" + std::to_string(i), "srv__lookup")}));
    f.model->script.push_back(says("done"));
    f.server->hold["lookup"] = true;
    for (int i = 0; i < others; ++i) f.run();
    f.start(f.ask());
    std::size_t all = 0;
    const auto go_on = [&] {
      f.context.restart();
      while (const auto some = f.context.poll()) all += some;
    };
    go_on();
    for (int i = 0; i < 3; ++i) {
      f.server->release();
      go_on();
    }
    CHECK(f.caller_.done.size() == 1);
    return all;
  };
  CHECK(work_in(1) > work_in(0));
  CHECK(work_in(1, 1) == work_in(0, 1));
  CHECK(work_in(2, 1) > work_in(0, 1));
}

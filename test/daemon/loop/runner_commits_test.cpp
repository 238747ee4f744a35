// Records that a run writes in one commit, and effects that wait until their records are written.
#include "mcp/support/log.hpp"
#include "test/daemon/loop/loop_fixture.hpp"

#include <boost/asio/async_result.hpp>
#include <doctest/doctest.h>

#include <deque>
#include <functional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

using namespace mcpbx;
using namespace mcpbx::daemon::run;
using namespace mcpbx::daemon::store;
using namespace mcpbx::daemon::stored;
using namespace mcpbx::daemon::test;

namespace {

/// Lists each append and completes it when release() is called.
class held_journal final : public journal {
 public:
  std::unique_ptr<run_journal> open_run(const std::string&) override { return std::make_unique<one>(*this); }
  bool keeps_sessions() const override { return true; }
  bool is_shared() const override { return shared; }
  void release(result<void> outcome = {}) {
    REQUIRE(waiting);
    std::exchange(waiting, nullptr)(std::move(outcome));
  }
  std::vector<std::string> appends;  ///< names of the records, then "synced" if that was asked for
  std::function<void(result<void>)> waiting;
  bool shared = false;
  milliseconds patience{-1};  ///< argument of the last wait_at_most()

 private:
  struct one final : run_journal {
    explicit one(held_journal& o) : owner(o) {}
    void wait_at_most(milliseconds p) override { owner.patience = p; }
    asio::awaitable<result<void>> append(std::vector<run_record> records, bool synced) override {
      std::string names;
      for (const auto& r : records) names += std::string(names.empty() ? "" : " ") + std::string(name_of(r));
      owner.appends.push_back(names + (synced ? " synced" : ""));
      auto start = [this](auto handler) {
        auto kept = std::make_shared<decltype(handler)>(std::move(handler));
        owner.waiting = [kept](result<void> outcome) {
          auto call = std::move(*kept);
          std::move(call)(std::move(outcome));
        };
      };
      co_return co_await asio::async_initiate<const asio::use_awaitable_t<>, void(result<void>)>(std::move(start),
                                                                                                 asio::use_awaitable);
    }
    held_journal& owner;
  };
};

struct held_run {
  explicit held_run(std::deque<step> script, run_request r = fixture::ask()) {
    f.unproven = "the journal of this test keeps nothing";
    f.model->script = std::move(script);
    f.run(std::move(r));
  }
  ~held_run() {
    while (journal.waiting) release();
  }
  void release(result<void> outcome = {}) {
    journal.release(std::move(outcome));
    f.settle();
  }
  std::vector<std::string> calls() const { return f.server->params; }
  held_journal journal;
  fixture f{false, &journal};
};

run_request with_written_status() {
  auto r = fixture::ask();
  r.limits.status = status_mode::model;
  r.limits.status_model = "quick";
  return r;
}

}  // namespace

TEST_CASE("L11: records that follow from one another are one commit") {
  held_run run({calls({lookup("a"), lookup("b")}), says("done")});
  while (run.journal.waiting) run.release();
  const std::vector<std::string> expected{"run_started round_started", "assistant call_intent call_intent",
                                          "call_result call_result round_started", "assistant run_ended synced"};
  CHECK(run.journal.appends == expected);
  CHECK(run.f.caller_.member("stopReason") == "final");
}

TEST_CASE("G25: a caller is told that its run waits for a journal which daemons share, and for how long it may") {
  for (const bool shared : {false, true}) {
    CAPTURE(shared);
    auto r = fixture::ask();
    r.limits.timeout_ms = 20'000;
    r.limits.status = status_mode::names;
    held_run run({says("done")}, r);
    run.journal.shared = shared;
    run.release();
    run.f.time.advance(milliseconds(1'999));
    run.f.settle();
    const auto told = [&] {
      return std::ranges::count_if(run.f.caller_.events,
                                   [](const auto& e) { return contains(e, "Waiting for the journal"); });
    };
    CHECK(told() == 0);
    run.f.time.advance(milliseconds(1));
    run.f.settle();
    CHECK(told() == (shared ? 1 : 0));
    CHECK(run.journal.patience == (shared ? milliseconds(20'000) : milliseconds(-1)));
    while (run.journal.waiting) run.release();
    CHECK(run.f.caller_.member("stopReason") == "final");
  }
}

TEST_CASE("G25: a detached run waits for its journal as long as any may, whatever its time limit") {
  auto r = fixture::ask();
  r.limits.timeout_ms = 20'000;
  r.detach = true;
  held_run run({says("done")}, r);
  run.journal.shared = true;
  run.release();
  CHECK(run.journal.patience == run_journal::longest_outage);
}

TEST_CASE("L11: a detached start is written by itself and synced") {
  held_run run({says("done")});
  while (run.journal.waiting) run.release();
  run.journal.appends.clear();
  auto r = fixture::ask();
  r.detach = true;
  run.f.model->script = {says("done")};
  run.f.caller_.done.clear();
  run.f.run(r);
  while (run.journal.waiting) run.release();
  const std::vector<std::string> expected{"run_started synced", "round_started", "assistant run_ended synced"};
  CHECK(run.journal.appends == expected);
}

TEST_CASE("G23: nothing leaves before the records that it follows from are written") {
  held_run run({calls({lookup("a")}), says("done")});
  auto& caller = run.f.caller_;
  CHECK(run.f.model->requests.empty());
  CHECK(caller.events.empty());
  run.release();
  CHECK(run.f.model->requests.size() == 1);
  CHECK(run.journal.appends.back() == "assistant call_intent");
  CHECK(run.calls().empty());
  CHECK(caller.of("tool_call").empty());
  run.release();
  CHECK(run.calls().size() == 1);
  CHECK(caller.of("tool_call").size() == 1);
  CHECK(run.journal.appends.back() == "call_result round_started");
  CHECK(caller.of("tool_result").empty());
  CHECK(run.f.model->requests.size() == 1);
  run.release();
  CHECK(caller.of("tool_result").size() == 1);
  CHECK(run.f.model->requests.size() == 2);
  CHECK(caller.done.empty());
  run.release();
  CHECK(caller.done.size() == 1);
}

TEST_CASE("G23: a request that is made ready while its round is written leaves only when that is done") {
  held_run run({says("done")});
  CHECK(run.f.model->open == 1);
  CHECK(run.f.model->requests.empty());
  run.release();
  CHECK(run.f.model->requests.size() == 1);
  while (run.journal.waiting) run.release();
  CHECK(run.f.caller_.member("stopReason") == "final");

  held_run lost({says("never")});
  CHECK(lost.f.model->open == 1);
  lost.release(fail(errc::io, "no space left on device"));
  CHECK(lost.f.model->open == 0);
  CHECK(lost.f.model->requests.empty());
  CHECK(lost.f.caller_.member("stopReason") == "store_error");
}

TEST_CASE("G23: the model that writes status lines is asked about a call only when its intent is written") {
  held_run run({calls({lookup("a", R"({"of":"Lisbon"})"), lookup("b")}), says("done")}, with_written_status());
  run.release();
  CHECK(run.journal.appends.back() == "assistant call_intent call_intent");
  CHECK(run.f.quick->requests.empty());
  run.release();
  CHECK(run.calls().size() == 2);
  REQUIRE(run.f.quick->requests.size() == 2);
  CHECK(contains(run.f.quick->requests[0].messages.back()->text(), "Lisbon"));
  while (run.journal.waiting) run.release();
  CHECK(run.f.caller_.member("stopReason") == "final");
}

TEST_CASE("G25: no status line is written about a call whose intent could not be kept") {
  held_run run({calls({lookup("a")}), says("never")}, with_written_status());
  run.release();
  run.release(fail(errc::io, "no space left on device"));
  CHECK(run.calls().empty());
  CHECK(run.f.quick->requests.empty());
  for (const auto& line : run.f.caller_.of("status")) CHECK_FALSE(contains(line, "Using Lookup"));
  CHECK(run.f.caller_.member("stopReason") == "store_error");
}

TEST_CASE("G25: the result of a run whose journal failed tells nothing as kept that is not") {
  held_run start({says("never")});
  start.release(fail(errc::io, "no space left on device"));
  const auto& nothing = start.f.caller_;
  CHECK(nothing.member("session") == "");
  CHECK(nothing.member("rounds") == "0");
  CHECK(nothing.member("messages") == "[]");

  held_run run({calls({lookup("a")}), calls({lookup("b")}), says("never")});
  for (int i = 0; i < 4; ++i) run.release();
  REQUIRE(run.journal.appends.back() == "call_result round_started");
  run.release(fail(errc::io, "no space left on device"));
  const auto& rest = run.f.caller_;
  CHECK(rest.member("stopReason") == "store_error");
  CHECK(rest.member("session") != "");
  CHECK(rest.member("rounds") == "2");
  const auto calls = rest.member("toolCalls");
  CHECK(contains(calls.substr(0, calls.find("\"b\"")), "\"isError\":false"));
  CHECK(contains(calls.substr(calls.find("\"b\"")), "\"isError\":true"));
  CHECK(contains(rest.member("messages"), "\"a\""));
  CHECK_FALSE(contains(rest.member("messages"), "\"b\""));
}

TEST_CASE("L17: a run that lost the race for its session is refused without a word, and may be asked for again") {
  const error lost{errc::unavailable, "the session ses_1 went on elsewhere a moment ago; ask again"};
  for (const bool detached : {false, true}) {
    CAPTURE(detached);
    std::vector<std::string> logged;
    log::install(log::level::warn, [&](log::level, std::string_view line) { logged.emplace_back(line); });
    auto r = fixture::ask();
    r.detach = detached;
    r.limits.status = status_mode::names;
    held_run run({says("never")}, std::move(r));
    run.release(std::unexpected(lost));
    log::install(log::level::off, {});
    CHECK(logged.empty());
    REQUIRE(run.f.caller_.refused.size() == 1);
    CHECK((run.f.caller_.refused[0].code == lost.code && run.f.caller_.refused[0].message == lost.message));
    CHECK((run.f.caller_.done.empty() && run.f.caller_.events.empty()));
    CHECK((run.f.model->requests.empty() && run.f.model->open == 0));
    CHECK((run.journal.appends.size() == 1 && run.f.runs->active() == 0));
  }
}

TEST_CASE("L17: a run that was asked to end while it lost the race for its session is refused all the same") {
  auto r = fixture::ask();
  r.limits.status = status_mode::names;
  held_run run({says("never")}, std::move(r));
  CHECK(run.f.runs->cancel(run.f.caller_.last_run, "enough"));
  run.release(fail(errc::unavailable, "the session ses_1 went on elsewhere a moment ago; ask again"));
  CHECK(run.f.caller_.refused.size() == 1);
  CHECK((run.f.caller_.done.empty() && run.f.caller_.events.empty() && run.journal.appends.size() == 1));
}

TEST_CASE(
    "L17: a run that was cancelled before its start was written, and lost the race for its session, is refused too") {
  held_journal journal;
  fixture f(false, &journal);
  f.unproven = "the journal of this test keeps nothing";
  auto r = fixture::ask();
  r.limits.status = status_mode::names;
  CHECK(f.runs->cancel(f.start(std::move(r)), "enough"));
  f.settle();
  REQUIRE(journal.appends == std::vector<std::string>{"run_started cancel"});
  journal.release(fail(errc::unavailable, "the session ses_1 went on elsewhere a moment ago; ask again"));
  f.settle();
  CHECK(f.caller_.refused.size() == 1);
  CHECK((f.caller_.done.empty() && f.caller_.events.empty() && f.runs->active() == 0));
}

TEST_CASE("G25: a journal that is unavailable behind the start of a run ends it as any other fault does") {
  held_run run({calls({lookup("a")}), says("never")});
  run.release();
  run.release(fail(errc::unavailable, "busy"));
  CHECK((run.f.caller_.refused.empty() && run.f.caller_.member("stopReason") == "store_error"));
}

TEST_CASE("G25: what could not be written is not told and starts nothing") {
  held_run run({calls({lookup("a")}), says("never")});
  run.release();
  run.release(fail(errc::io, "no space left on device"));
  CHECK(run.calls().empty());
  CHECK(run.f.model->requests.size() == 1);
  CHECK(run.f.caller_.member("stopReason") == "store_error");
  CHECK(run.f.caller_.of("tool_call").empty());
  CHECK(run.f.caller_.of("tool_result").empty());
  CHECK(run.f.caller_.of("usage").empty());
  CHECK(run.journal.appends.size() == 2);
}

TEST_CASE("G25: of calls that had left before the journal failed it is told that they may have taken effect") {
  held_run run({calls({lookup("a"), lookup("b")}), calls({lookup("c")}), says("never")});
  run.f.server->hold["lookup"] = true;
  run.release();
  run.release();
  REQUIRE(run.calls().size() == 2);
  run.f.runs->cancel(run.f.caller_.last_run, "enough");
  run.f.settle();
  run.release(fail(errc::io, "no space left on device"));
  const auto results = run.f.caller_.of("tool_result");
  REQUIRE(results.size() == 2);
  for (const auto& one : results) CHECK(contains(one, "it may have taken effect"));
}

TEST_CASE(
    "G23: a run that another daemon has taken over tells no call that never was, and who follows it where it is") {
  for (const bool detached : {false, true}) {
    CAPTURE(detached);
    auto r = fixture::ask();
    r.run = "long";
    r.detach = detached;
    held_run run({calls({lookup("a"), lookup("b")}), says("never")}, std::move(r));
    run.release();
    if (detached) run.release();
    REQUIRE(run.journal.appends.back() == "assistant call_intent call_intent");
    run.release(fail(errc::not_found, "another daemon went on with the run"));
    CHECK(run.calls().empty());
    CHECK(run.f.caller_.of("tool_call").empty());
    CHECK(run.f.caller_.of("tool_result").empty());
    CHECK(run.f.caller_.done.empty());
    REQUIRE(run.f.caller_.refused.size() == 1);
    CHECK(run.f.caller_.refused[0].code == errc::unavailable);
    CHECK(contains(run.f.caller_.refused[0].message, "\"long\" goes on in another daemon"));
    CHECK(run.f.runs->find("long").error().code == errc::not_found);
  }
}

TEST_CASE("G25: a cancel of a run that could not be started is refused") {
  auto r = fixture::ask();
  r.run = "long";
  r.detach = true;
  held_run run({says("never")}, std::move(r));
  std::vector<result<void>> told;
  CHECK(run.f.runs->cancel("long", "enough", [&](result<void> done) { told.push_back(std::move(done)); }));
  run.release(fail(errc::io, "no space left on device"));
  REQUIRE(told.size() == 1);
  REQUIRE_FALSE(told[0].has_value());
  CHECK(contains(told[0].error().message, "no space left on device"));
}

TEST_CASE("G24: a detached run that ends because its journal failed says that a restart may bring it back") {
  for (const bool detached : {false, true}) {
    auto r = fixture::ask();
    r.detach = detached;
    held_run run({calls({lookup("a")}), says("never")}, std::move(r));
    run.release();
    if (detached) run.release();
    run.release(fail(errc::io, "no space left on device"));
    CHECK(run.f.caller_.member("stopReason") == "store_error");
    CHECK(contains(run.f.caller_.member("reason"), "the run continues after the next start") == detached);
  }
}

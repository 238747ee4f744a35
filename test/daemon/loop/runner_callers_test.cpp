// Callers of a run: cancelling it, leaving it, attaching to it, and runs that go on without a caller.
#include "mcp/redact/secret.hpp"
#include "mcp/support/text.hpp"
#include "test/daemon/loop/core/wire_history.hpp"
#include "test/daemon/loop/loop_fixture.hpp"

#include <doctest/doctest.h>

#include <algorithm>
#include <optional>
#include <string>
#include <vector>

using namespace mcpbx;
using namespace mcpbx::daemon::run;
using namespace mcpbx::daemon::stored;
using namespace mcpbx::daemon::test;
using namespace mcpbx::redact;

namespace {

lines names_in(const std::vector<run_record>& records) {
  lines all;
  for (const auto& r : records) all.emplace_back(name_of(r));
  return all;
}

}  // namespace

TEST_CASE("L18: a cancel reaches the model call") {
  fixture f;
  f.model->script = {silent()};
  const auto name = f.run();
  CHECK(f.model->open == 1);
  CHECK(f.runs->cancel(name, "the user pressed Ctrl-C"));
  f.settle();
  CHECK(f.model->open == 0);
  CHECK(f.caller_.member("stopReason") == "cancelled");
  CHECK(f.caller_.member("reason") == "Unable to complete task: the user pressed Ctrl-C.");
  CHECK_FALSE(f.runs->cancel(name, ""));
}

TEST_CASE("G16: a cancel reaches the tool server and every call keeps its one result") {
  fixture f;
  f.server->hold["lookup"] = true;
  f.model->script = {calls({lookup("a"), lookup("b")})};
  const auto name = f.run();
  f.runs->cancel(name, "");
  f.settle();
  CHECK(f.server->cancelled == 2);
  CHECK(f.caller_.of("tool_result").size() == 2);
  CHECK(f.caller_.member("stopReason") == "cancelled");
}

TEST_CASE("G16: a result that crosses the cancel is dropped") {
  fixture f;
  f.server->hold["lookup"] = true;
  f.model->script = {calls({lookup("a")})};
  const auto name = f.run();
  f.runs->cancel(name, "");
  f.server->release("crossed");
  f.settle();
  CHECK(f.caller_.of("tool_result").size() == 1);
  CHECK(f.caller_.done.size() == 1);
}

TEST_CASE("G16: a caller that goes away ends its runs and is told nothing more") {
  fixture f;
  caller other;
  f.model->script = {silent(), silent()};
  f.start(fixture::ask());
  REQUIRE(f.runs->start(fixture::ask(), other).has_value());
  f.settle();
  CHECK(f.runs->active() == 2);
  const auto told = f.caller_.events.size();
  f.caller_.leave();
  f.settle();
  CHECK(f.runs->active() == 1);
  CHECK(f.model->open == 1);
  CHECK(f.caller_.done.empty());
  CHECK(f.caller_.events.size() == told);
  other.leave();
  f.settle();
}

TEST_CASE("L18: a run goes on while somebody who started it or attached is there") {
  fixture f;
  f.model->script = {silent()};
  auto r = fixture::ask();
  r.run = "mine";
  f.run(r);
  caller other;
  other.read(**f.runs->find("mine"));
  f.caller_.leave();
  f.settle();
  CHECK(f.runs->active() == 1);
  other.leave("cancelled by its caller");
  f.settle();
  CHECK(f.runs->active() == 0);
  CHECK(f.runs->find("mine").error().code == errc::not_found);
  CHECK(names_in(f.written()) == lines{"run_started", "round_started", "cancel", "run_ended"});
}

TEST_CASE("L18: events have the same numbers for everybody and rise by one") {
  fixture f;
  f.model->script = {calls({lookup("a")}), says("done")};
  auto r = fixture::ask();
  r.run = "mine";
  f.start(r);
  caller other;
  other.read(**f.runs->find("mine"));
  f.settle();
  CHECK(f.caller_.events == other.events);
  CHECK(f.caller_.numbers == other.numbers);
  for (std::size_t i = 0; i < f.caller_.numbers.size(); ++i) CHECK(f.caller_.numbers[i] == i + 1);
  CHECK(f.caller_.done.front().text() == other.done.front().text());
}

TEST_CASE("L18: a detached run goes on without a caller and is there for attach when it has ended") {
  fixture f;
  f.server->hold["lookup"] = true;
  f.model->script = {calls({lookup("a")}), says("done")};
  auto r = fixture::ask();
  r.run = "mine";
  r.detach = true;
  std::vector<std::string> recorded;
  const auto told = [&](const result<runner::recorded_run>& begun) {
    CHECK(names_in(f.written()) == lines{"run_started"});
    recorded.push_back(begun->run);
    CHECK(begun->session.empty());
  };
  REQUIRE(f.runs->start(r, told).has_value());
  CHECK(recorded.empty());
  f.settle();
  CHECK(recorded == std::vector<std::string>{"mine"});
  caller first;
  first.read(**f.runs->find("mine"));
  const auto seen = first.numbers.size();
  CHECK(seen > 0);
  first.leave();
  CHECK(f.active_at_ends.empty());
  f.server->release();
  f.settle();
  CHECK(f.runs->active() == 0);
  CHECK(f.active_at_ends == std::vector<std::size_t>{0});
  CHECK(f.runs->counts().stops == std::vector<std::pair<std::string, std::uint64_t>>{{"final", 1}});
  caller all, rest;
  all.read(**f.runs->find("mine"));
  rest.read(**f.runs->find("mine"), {.after = seen});
  CHECK(all.member("text") == "done");
  CHECK(rest.member("text") == "done");
  CHECK(all.numbers.size() == seen + rest.numbers.size());
  for (std::size_t i = 0; i < all.numbers.size(); ++i) CHECK(all.numbers[i] == i + 1);
  CHECK(lines(all.events.end() - static_cast<std::ptrdiff_t>(rest.events.size()), all.events.end()) == rest.events);
  CHECK(all.of("text") == lines{"text done"});
}

TEST_CASE("L18: a detached run is cancelled by its name") {
  fixture f;
  f.model->script = {silent()};
  auto r = fixture::ask();
  r.run = "mine";
  r.detach = true;
  REQUIRE(f.runs->start(r).has_value());
  f.settle();
  CHECK(f.runs->cancel("mine", "cancelled by a caller"));
  f.settle();
  CHECK_FALSE(f.runs->cancel("mine", ""));
  f.caller_.read(**f.runs->find("mine"));
  CHECK(f.caller_.member("stopReason") == "cancelled");
}

TEST_CASE("L18: a detached start that cannot be recorded is told and leaves nothing behind") {
  fixture f(true);
  f.failing.fail_at = "run_started";
  auto r = fixture::ask();
  r.run = "mine";
  r.detach = true;
  std::string why;
  REQUIRE(
      f.runs->start(r, [&](const result<runner::recorded_run>& begun) { why = begun.error().message; }).has_value());
  f.settle();
  CHECK(why == "the run was not started: the run's journal could not be written: no space left on device");
  CHECK(f.runs->find("mine").error().code == errc::not_found);
  CHECK(f.model->requests.empty());
}

TEST_CASE("G35: what the journal says of itself is told without secrets") {
  redactor::add(secret("left on device"));
  fixture f(true);
  f.failing.fail_at = "run_ended";
  f.model->script = {says("done")};
  f.run();
  CHECK(f.caller_.member("stopReason") == "store_error");
  CHECK(contains(f.caller_.member("reason"), "could not be written: no space ***."));
  redactor::clear();
}

TEST_CASE("L18: the same request with the same name attaches to its run and any other is refused") {
  fixture f;
  f.model->script = {silent(), silent()};
  auto r = fixture::ask();
  r.run = "mine";
  r.likeness = 7;
  f.run(r);
  caller other;
  CHECK(f.runs->start(r, other).value() == "mine");
  CHECK(f.runs->active() == 1);
  auto by_name = r;
  by_name.likeness = 0;
  by_name.name_only = true;
  caller third;
  CHECK(f.runs->start(by_name, third).value() == "mine");
  r.likeness = 8;
  CHECK(f.runs->start(r, other).error().message ==
        "a run named \"mine\" exists already and was started by a different request; attach to it (`mcpbx attach "
        "mine`, or a "
        "request with \"run\" and \"stream\" only), or choose another name");
  r.likeness = 7;
  r.detach = true;
  CHECK(contains(f.runs->start(r).error().message,
                 "ends when its callers leave; attach to it (`mcpbx attach mine`, or "));
  by_name.run = "other";
  CHECK(f.runs->start(by_name, other).error().code == errc::not_found);
  f.caller_.leave();
  other.leave();
  third.leave();
  f.settle();
  CHECK(f.runs->active() == 0);

  // A detached run may be started twice: the second start finds the first run, even when it has ended.
  f.model->script = {silent()};
  r.run = "kept";
  int told = 0;
  const auto count = [&](const result<runner::recorded_run>& begun) { told += begun.has_value() ? 1 : 0; };
  REQUIRE(f.runs->start(r, count).has_value());
  REQUIRE(f.runs->start(r, count).has_value());
  CHECK(told == 0);
  f.settle();
  CHECK(told == 2);
  f.runs->cancel("kept", "");
  f.settle();
  REQUIRE(f.runs->start(r, count).has_value());
  CHECK(told == 3);
  CHECK(f.runs->active() == 0);
}

TEST_CASE("L18: a caller that attaches late is told by a snapshot what is going on") {
  fixture f;
  f.server->hold["lookup"] = true;
  f.model->script = {says("let me see", {lookup("a")}), says("done")};
  auto r = fixture::ask();
  r.run = "mine";
  f.run(r);
  caller late;
  late.read(**f.runs->find("mine"));
  REQUIRE(late.events.size() == 1);
  CHECK(late.events[0] == R"({"type":"snapshot","round":1,"model":"scripted","text":"let me see","calls":[)" +
                              f.caller_.of("tool_call").at(0) + R"(],"questions":[]})");
  CHECK(late.numbers[0] == f.caller_.numbers.back());
  f.server->release();
  f.settle();
  CHECK(late.member("text") == "done");
  CHECK(late.numbers.back() == f.caller_.numbers.back());
}

TEST_CASE("L18: a cancel before the servers are settled ends the run without a model call") {
  fixture f;
  f.tools.settled = false;
  const auto name = f.run();
  CHECK(f.tools.waited == milliseconds(1000));
  f.runs->cancel(name, "");
  f.settle();
  CHECK(f.caller_.member("stopReason") == "cancelled");
  CHECK(names_in(f.written()) == lines{"run_started", "cancel", "run_ended"});
  CHECK(f.model->requests.empty());
  f.tools.waiting();
  f.settle();
}

// Runs in sessions: the history that they get, and the rules for continuing a session.
#include "daemon/loop/core/recovery.hpp"
#include "daemon/loop/run/runner.hpp"
#include "test/daemon/loop/loop_fixture.hpp"

#include <doctest/doctest.h>

#include <algorithm>
#include <functional>
#include <map>
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

// Sessions that a test provides. Records of runs go to the fixture's own journal.
class kept_sessions : public journal {
 public:
  std::unique_ptr<run_journal> open_run(const std::string& run) override { return written_to->open_run(run); }
  bool keeps_sessions() const override { return true; }
  void load_history(std::string session, answer<history> then) override {
    ++loads;
    auto give = [this, session, then] {
      const auto found = there.find(session);
      if (found == there.end()) return then(fail(errc::not_found, "there is no session \"" + session + "\""));
      then(found->second);
    };
    if (slow)
      held = std::move(give);
    else
      asio::post(*io, std::move(give));
  }
  const record::run_started& started(std::size_t run = 0) const {
    return std::get<record::run_started>(written_to->runs().at(run)->records.front());
  }
  noted_journal* written_to = nullptr;
  std::map<std::string, history> there;
  asio::io_context* io = nullptr;
  int loads = 0;
  bool slow = false;           // load_history() waits until the test calls `held`
  std::function<void()> held;  // answers the latest load_history()
};

struct sessions_fixture : kept_sessions, fixture {
  sessions_fixture() : fixture(false, static_cast<kept_sessions*>(this)) {
    io = &context;
    written_to = &kept;
  }
};

run_request in_session(const std::string& id) {
  auto r = fixture::ask();
  r.session = id;
  return r;
}

}  // namespace

TEST_CASE("L17: a run begins a session of its own and tells its id") {
  sessions_fixture f;
  f.model->script = {says("hello")};
  f.run();
  const auto id = f.caller_.member("session");
  CHECK((id.starts_with("ses_") && id.size() == 20));
  CHECK(f.started().session == id);
  CHECK((f.loads == 0 && f.started().inherited_count == 0));
}

TEST_CASE(
    "L17: a run in a session is given what was said there, behind its own system prompt, and tells only its own") {
  sessions_fixture f;
  f.there["ses_1"] = {providers::user_message("first question"), reply("first answer").message};
  f.model->script = {calls({call("c1", "srv__lookup")}), says("second answer")};
  f.run(in_session("ses_1"));
  REQUIRE(f.model->requests.size() == 2);
  std::vector<std::string> given;
  for (const auto& m : f.model->requests[0].messages) given.push_back(m->text());
  CHECK(given == std::vector<std::string>{"be brief", "first question", "first answer", "go"});
  CHECK(f.model->requests[1].messages.size() == 6);
  CHECK((f.started().session == "ses_1" && f.started().inherited_count == 2));
  CHECK(f.caller_.member("session") == "ses_1");
  const auto messages = f.caller_.member("messages");
  CHECK_FALSE(contains(messages, "first"));
  CHECK((contains(messages, "be brief") && contains(messages, "second answer")));
}

TEST_CASE("L17: one run at a time goes on with a session, and its end sets it free") {
  sessions_fixture f;
  f.there["ses_1"] = {};
  f.model->script = {silent(), says("b")};
  const auto first = f.run(in_session("ses_1"));
  caller other;
  const auto refused = f.runs->start(in_session("ses_1"), other);
  REQUIRE_FALSE(refused.has_value());
  CHECK(refused.error().code == errc::unavailable);
  CHECK(contains(refused.error().message, "ses_1 is in use by the run " + first));
  CHECK(f.runs->start(fixture::ask(), other).has_value());  // a session of its own
  f.settle();
  CHECK(f.runs->cancel(first, "enough"));
  f.settle();
  CHECK(f.caller_.member("stopReason") == "cancelled");
  f.model->script = {says("c")};
  caller third;
  CHECK(f.runs->start(in_session("ses_1"), third).has_value());
  f.settle();
  CHECK(third.member("text") == "c");
}

TEST_CASE("G42: by which run a session is in use is told to whom that run is") {
  sessions_fixture f;
  f.there["ses_1"] = {};
  f.model->script = {silent()};
  auto mine = in_session("ses_1");
  mine.principal = "uid:1000";
  f.run(mine);
  for (const auto& [who, told] :
       {std::pair{"uid:1000", true}, std::pair{"server:files", false}, std::pair{"http", false}}) {
    auto r = in_session("ses_1");
    r.principal = who;
    caller other;
    const auto refused = f.runs->start(std::move(r), other);
    REQUIRE_FALSE(refused.has_value());
    CHECK(contains(refused.error().message, "ses_1 is in use"));
    CHECK(contains(refused.error().message, "by the run") == told);
  }
}

TEST_CASE("L17: who cancels a run goes on with its session at once, behind its end") {
  sessions_fixture f;
  f.there["ses_1"] = {};
  f.model->script = {silent(), says("b")};
  const auto first = f.run(in_session("ses_1"));
  CHECK(f.runs->cancel(first, "enough"));
  caller second, third;
  CHECK(f.runs->start(in_session("ses_1"), second).has_value());
  // One run waits for the session, and no more than one.
  const auto refused = f.runs->start(in_session("ses_1"), third);
  REQUIRE_FALSE(refused.has_value());
  CHECK(refused.error().code == errc::unavailable);
  f.settle();
  CHECK(f.caller_.member("stopReason") == "cancelled");
  CHECK(second.member("text") == "b");
  CHECK(f.model->requests.size() == 2);
  CHECK(f.runs->active() == 0);
}

TEST_CASE("L17: a run that does not end though it was asked to is waited for 5 s by who goes on with its session") {
  sessions_fixture f;
  f.there["ses_1"] = {};
  f.slow = true;
  const auto first = f.run(in_session("ses_1"));
  f.slow = false;
  REQUIRE(f.held);
  CHECK(f.runs->cancel(first, "enough"));
  caller second;
  REQUIRE(f.runs->start(in_session("ses_1"), second).has_value());
  f.settle();
  f.time.advance(milliseconds(4999));
  f.settle();
  CHECK(second.refused.empty());
  f.time.advance(milliseconds(1));
  f.settle();
  REQUIRE(second.refused.size() == 1);
  CHECK(second.refused[0].code == errc::unavailable);
  CHECK(contains(second.refused[0].message, "ses_1 is in use by the run " + first));
  f.held();
  f.settle();
  CHECK(f.caller_.member("stopReason") == "cancelled");
  CHECK(f.runs->active() == 0);
}

TEST_CASE("L17: a session that is not there refuses the run before anything is written or asked") {
  sessions_fixture f;
  f.unproven = "no run begins";
  f.run(in_session("ses_9"));
  REQUIRE(f.caller_.refused.size() == 1);
  CHECK(f.caller_.refused[0].code == errc::not_found);
  CHECK(f.caller_.done.empty());
  CHECK(f.caller_.events.empty());
  CHECK((f.kept.runs().empty() && f.model->requests.empty() && f.runs->active() == 0));
}

TEST_CASE("G24: a session whose question waits for an answer is gone on with without a word, another is not") {
  sessions_fixture f;
  f.there["ses_1"] = {providers::user_message("still open")};
  f.there["ses_2"] = {providers::user_message("q"), reply("answered").message};
  auto nothing_new = in_session("ses_1");
  nothing_new.messages.clear();
  f.model->script = {says("the answer")};
  f.run(nothing_new);
  CHECK(f.caller_.member("text") == "the answer");
  CHECK(f.model->requests[0].messages.size() == 2);
  nothing_new.session = "ses_2";
  caller other;
  CHECK(f.runs->start(nothing_new, other).has_value());
  f.settle();
  REQUIRE(other.refused.size() == 1);
  CHECK(other.refused[0].code == errc::invalid_argument);
  CHECK(contains(other.refused[0].message, "no question that waits for an answer"));
}

TEST_CASE("L17: ids of calls are not used twice in a session") {
  sessions_fixture f;
  f.there["ses_1"] = {providers::user_message("q"), reply("", {call("c1", "srv__lookup")}).message};
  f.model->script = {calls({call("c1", "srv__lookup")}), says("done")};
  f.run(in_session("ses_1"));
  const auto& asked = *f.model->requests[1].messages[4];
  REQUIRE(asked.calls().size() == 1);
  CHECK(asked.calls()[0]->id != "c1");
}

TEST_CASE("L17: without a store a session is an error that says how to keep them") {
  fixture f;
  const auto refused = f.runs->start(in_session("ses_1"), f.caller_);
  REQUIRE_FALSE(refused.has_value());
  CHECK(refused.error().code == errc::config);
  CHECK(contains(refused.error().message, "set it to \"sqlite:\""));
  f.model->script = {says("fine")};
  f.run();
  CHECK(f.caller_.member("session").empty());
}

TEST_CASE("L17: a detached start is told its session, also when it is found again") {
  sessions_fixture f;
  f.model->script = {says("hello")};
  auto r = fixture::ask();
  r.run = "mine";
  r.detach = true;
  r.likeness = 7;
  std::vector<std::string> told;
  const auto take = [&](const result<runner::recorded_run>& begun) {
    told.push_back(begun->run + begun->session + (begun->ended ? " ended" : ""));
  };
  REQUIRE(f.runs->start(r, take).has_value());
  f.settle();
  REQUIRE(f.runs->start(r, take).has_value());
  CHECK(told == std::vector<std::string>{"mine" + f.started().session, "mine" + f.started().session + " ended"});
}

TEST_CASE(
    "L17: a detached start in a session that cannot be gone on with is answered with the error, and leaves nothing") {
  sessions_fixture f;
  f.unproven = "no run begins";
  auto r = in_session("ses_9");
  r.run = "mine";
  r.detach = true;
  std::vector<result<runner::recorded_run>> told;
  const auto take = [&](result<runner::recorded_run> outcome) { told.push_back(std::move(outcome)); };
  REQUIRE(f.runs->start(r, take).has_value());
  f.settle();
  REQUIRE(told.size() == 1);
  CHECK(told[0].error().code == errc::not_found);
  CHECK(f.runs->find("mine").error().code == errc::not_found);
}

TEST_CASE("L19 G24: a run that goes on with a session keeps to what the session's latest run was asked to keep to") {
  sessions_fixture f;
  f.there["ses_1"] = {providers::user_message("first question"), reply("first answer").message};
  f.there["ses_1"].terms = {"careful", {"srv__l*"}, raw_json::literal(R"({"maxRounds":3})")};
  auto r = in_session("ses_1");
  r.keep_terms = [](run_request& mine, const run_terms& terms) -> result<void> {
    mine.profile = terms.profile;
    mine.tools.only = terms.tools;
    mine.approve = {"srv__lookup"};
    mine.limits.approve = approval_mode::none;
    mine.asked_limits = terms.limits;
    return {};
  };
  f.model->script = {calls({call("c1", "srv__lookup"), call("c2", "srv__other")}), says("done")};
  f.run(r);
  CHECK(f.server->params.empty());
  CHECK(contains(f.caller_.done.front().text(), "this run may not ask for one"));
  CHECK(contains(f.caller_.done.front().text(), "there is no tool named \\\"srv__other\\\" here"));
  CHECK(f.started().profile == "careful");
  CHECK(f.started().asked_limits.text() == R"({"maxRounds":3})");
  const auto next = folded(f.kept.runs().front()->records).terms;  // the terms for the session's next run
  CHECK((next.profile == "careful" && next.tools == std::vector<std::string>{"srv__l*"}));
  CHECK(next.limits.text() == R"({"maxRounds":3})");
}

TEST_CASE("L19 G24: a session whose terms cannot be kept is not gone on with") {
  sessions_fixture f;
  f.unproven = "no run begins";
  f.there["ses_1"] = {};
  auto r = in_session("ses_1");
  r.keep_terms = [](run_request&, const run_terms&) -> result<void> { return fail(errc::invalid_argument, "no"); };
  f.run(r);
  r.keep_terms = [](run_request& mine, const run_terms&) -> result<void> {
    mine.model = "gone";  // the profile's model does not exist
    return {};
  };
  f.run(r);
  REQUIRE(f.caller_.refused.size() == 2);
  CHECK(f.caller_.refused[0].message == "no");
  CHECK(f.caller_.refused[1].code == errc::not_found);
  CHECK((f.kept.runs().empty() && f.model->requests.empty()));
}

TEST_CASE("L14: a result that was cut can be read on in the next run of its session") {
  std::vector<run_record> first;
  {
    sessions_fixture f;
    f.server->tools["lookup"] = [](const mcp::clients::server_call&) {
      return mcp::rpc::call_outcome{
          mcp::rpc::call_outcome::kind::result, text_result(std::string(5'000, 'a') + "the end"), {}};
    };
    f.model->script = {calls({call("c1", "srv__lookup")}), says("done")};
    auto r = fixture::ask();
    r.limits.max_result_bytes = 1'000;
    f.run(r);
    first = f.kept.runs().front()->records;
  }
  sessions_fixture f;
  auto before = folded(first);
  REQUIRE(before.results.size() == 1);
  f.there["ses_1"].assign(before.messages.begin(), before.messages.end());
  f.there["ses_1"].results = before.results;
  f.model->script = {calls({call("c2", "mcpbx__read_result", R"({"call":"c1","offset":5000})")}), says("read")};
  f.run(in_session("ses_1"));
  REQUIRE(f.model->requests.size() == 2);
  REQUIRE(f.model->requests[0].tools);
  CHECK(std::ranges::count(f.model->requests[0].tools->tools, "mcpbx__read_result",
                           &providers::tool_definition::name) == 1);
  CHECK(contains(f.caller_.member("messages"), "the end"));
  CHECK(folded(f.kept.runs().front()->records).results.size() == 1);  // the session's next run can read it, too
}

TEST_CASE("F8: a name that a run of the session has called means the same tool in its later runs") {
  std::vector<run_record> first;
  {
    sessions_fixture f;
    f.list({{"a.b", "srv__a_b"}});
    f.model->script = {calls({call("c1", "srv__a_b"), call("c2", "srv__a_b"), call("c3", "unknown")}), says("done")};
    f.run();
    CHECK(f.called() == lines{"a.b", "a.b"});
    first = f.kept.runs().front()->records;
  }
  const auto before = folded(first);
  CHECK(before.tools == std::vector<record::meant_tool>{{"srv__a_b", "srv", "a.b"}});
  sessions_fixture f;
  f.list({{"a_b", "srv__a_b"}, {"a.b", "srv__a_b_123456"}});
  f.there["ses_1"].assign(before.messages.begin(), before.messages.end());
  f.there["ses_1"].tools = before.tools;
  f.model->script = {calls({call("c4", "srv__a_b")}), says("done")};
  f.run(in_session("ses_1"));
  CHECK(f.called() == lines{"a.b"});
}

TEST_CASE("F8 L14: no tool goes when the one that reads on comes, for it has a place where the model takes few") {
  sessions_fixture f;
  f.offer({"lookup", "other", "third"});
  f.model->most_tools = 3;
  f.server->tools["lookup"] = [](const mcp::clients::server_call&) {
    return mcp::rpc::call_outcome{mcp::rpc::call_outcome::kind::result, text_result(std::string(5'000, 'a')), {}};
  };
  f.model->script = {calls({call("c1", "srv__lookup")}), calls({call("c2", "srv__third")}), says("done")};
  auto r = fixture::ask();
  r.limits.max_result_bytes = 1'000;
  f.run(r);
  REQUIRE(f.model->requests.size() == 3);
  const auto names = [&](std::size_t round) {
    std::string all;
    for (const auto& t : f.model->requests[round].tools->tools) all += t.name + " ";
    return all;
  };
  CHECK(names(0) == "srv__lookup srv__other ");
  CHECK(names(1) == "srv__lookup srv__other mcpbx__read_result ");
  CHECK(f.server->params.size() == 1);  // a tool that was not offered is not called
}

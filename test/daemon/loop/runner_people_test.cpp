// Live runs that ask people or hand calls back to their caller.
#include "daemon/loop/run/runner.hpp"
#include "test/daemon/loop/loop_fixture.hpp"

#include <boost/asio/redirect_error.hpp>
#include <boost/asio/steady_timer.hpp>
#include <boost/asio/this_coro.hpp>
#include <boost/asio/use_awaitable.hpp>
#include <doctest/doctest.h>

#include <algorithm>
#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

using namespace mcpbx;
using namespace mcpbx::daemon::run;
using namespace mcpbx::daemon::store;
using namespace mcpbx::daemon::stored;
using namespace mcpbx::daemon::test;
using namespace mcpbx::json;

namespace {

providers::tool_call_block guarded(std::string id) {
  return call(std::move(id), "srv__guarded");
}

struct asking : fixture {
  asking() { offer({"lookup", "guarded"}); }

  /// Returns the id in the latest question event.
  std::string question() const {
    const auto all = caller_.of("question");
    REQUIRE_FALSE(all.empty());
    return find_member(*raw_json::parse(all.back()), "question").as_string().value_or("");
  }
  /// Answers a question. Returns "" if the answer was kept, else the error.
  std::string answer(const std::string& run, const std::string& id, std::string body) {
    std::string outcome = "nothing";
    runs->answer(run, id, raw_json::own(std::move(body)),
                 [&](const result<void>& kept) { outcome = kept ? "" : kept.error().message; });
    settle();
    return outcome;
  }
};

raw_json own_tool(const std::string& name) {
  return raw_json::own("{\"name\":" + json_quoted(name) +
                       R"(,"inputSchema":{"type":"object","properties":{"of":{"type":"string"}}}})");
}

run_request with_own_tool(const std::string& run) {
  auto r = fixture::ask();
  r.run = run;
  r.client_tools = {own_tool("mine")};
  return r;
}

run_request results_for(const std::string& run, const std::vector<std::string>& ids) {
  run_request r;
  r.run = run;
  for (const auto& id : ids) r.results.push_back({id, text_result("from the caller")});
  return r;
}

}  // namespace

TEST_CASE("L9 L19: a run that stops at a call of its reply that cannot be read asks nobody about the others") {
  for (const bool first : {true, false}) {
    asking f;
    auto torn = lookup("torn");
    torn.arguments = {};
    torn.problem = "the JSON ends in the middle of an object";
    f.model->script = {first ? calls({torn, guarded("a")}) : calls({guarded("a"), torn})};
    run_limits l;
    l.on_tool_error = tool_error_policy::stop;
    f.run(fixture::ask(l));
    CHECK(f.caller_.of("question").empty());
    CHECK(f.caller_.member("stopReason") == "tool_error");
  }
}

TEST_CASE("L19: the question shows tool, arguments and why, and the call is made after the yes") {
  asking f;
  f.model->script = {calls({guarded("a")}), says("done")};
  const auto run = f.run();
  CHECK(f.server->params.empty());
  const auto event = f.caller_.of("question").at(0);
  CHECK(event.find(R"("kind":"approval","call":"a")") != std::string::npos);
  CHECK(event.find(R"("server":"srv","tool":"srv__guarded","arguments":{"of":"a"})") != std::string::npos);
  CHECK(event.find("\"reason\":\"the configuration wants a yes") != std::string::npos);
  CHECK(f.answer(run, f.question(), R"({"approve":true})") == "");
  CHECK(f.server->params.size() == 1);
  CHECK(f.caller_.member("stopReason") == "final");
}

TEST_CASE("L11 L19: a detached run ends with needs_approval when nobody was there to be asked, and runs nothing more") {
  asking f;
  f.server->hold["lookup"] = true;
  f.model->script = {calls({call("a", "srv__lookup"), guarded("b"), guarded("c")})};
  auto r = fixture::ask();
  r.run = "night";
  r.detach = true;
  r.limits.question_timeout_ms = 60'000;
  REQUIRE(f.runs->start(std::move(r)).has_value());
  f.settle();
  f.time.advance(milliseconds(60'000));
  f.settle();
  CHECK(f.runs->active() == 1);  // a call that was sent may finish
  f.server->release();
  f.settle();
  CHECK(f.server->params.size() == 1);
  caller late;
  late.read(**f.runs->find("night"));
  CHECK(late.member("stopReason") == "needs_approval");
  CHECK(late.member("reason") ==
        "Unable to complete task: the call of \"srv__guarded\" needs approval, and nobody was there to give it.");
  CHECK(contains(late.of("tool_result").at(0), "needs a yes of the user, and nobody was there to be asked"));
  CHECK(contains(late.of("tool_result").at(1), "another call needs a yes"));
  CHECK(f.model->requests.size() == 1);
}

TEST_CASE("L11 L19: a detached run goes on with a no when somebody is there and does not answer") {
  asking f;
  f.model->script = {calls({guarded("a")}), says("done")};
  auto r = fixture::ask();
  r.run = "night";
  r.detach = true;
  REQUIRE(f.runs->start(std::move(r)).has_value());
  f.settle();
  caller watcher;
  watcher.read(**f.runs->find("night"));
  f.time.advance(milliseconds(600'000));
  f.settle();
  CHECK(contains(watcher.of("tool_result").at(0), "nobody answered in time"));
  CHECK(watcher.member("stopReason") == "final");
}

TEST_CASE("L19: where no caller can answer any more what needs a yes is refused at once, and nobody is asked") {
  asking f;
  f.model->script = {calls({guarded("a")}), says("done")};
  f.start(fixture::ask());
  f.caller_.answer_no_more();
  f.settle();
  CHECK(f.caller_.of("question").empty());
  CHECK(contains(f.caller_.of("tool_result").at(0), "nobody who follows this run can be asked"));
  CHECK(f.server->params.empty());
  CHECK(f.caller_.member("stopReason") == "final");
}

TEST_CASE("L19: open questions end with a no when the last caller that can answer leaves or says no more") {
  for (const bool leaves : {false, true}) {
    asking f;
    f.model->script = {calls({guarded("a"), guarded("b")}), calls({guarded("c")}), says("done")};
    const auto run = f.run();
    caller other;
    other.read(**f.runs->find(run));
    REQUIRE(other.of("snapshot").size() == 1);
    CHECK(f.caller_.of("question").size() == 2);
    other.answer_no_more();
    f.settle();
    CHECK(f.caller_.of("answer").empty());
    f.model->script.push_front(silent());
    leaves ? f.caller_.leave() : f.caller_.answer_no_more();
    f.settle();
    CHECK(other.of("answer").size() == 2);
    REQUIRE(other.of("tool_result").size() == 2);
    for (const auto& result : other.of("tool_result"))
      CHECK(contains(result, "nobody who follows this run can be asked any more"));
    CHECK(f.server->params.empty());
    CHECK(f.runs->active() == 1);
  }
}

TEST_CASE("L19: a caller that comes before a question is asked that question, and one that is just in time keeps it") {
  asking f;
  f.model->script = {calls({guarded("a")}), says("done")};
  const auto run = f.run();
  caller later;
  f.caller_.answer_no_more();
  later.read(**f.runs->find(run));  // before the run learns that nobody can answer
  f.settle();
  CHECK(later.of("answer").empty());
  CHECK(f.answer(run, f.question(), R"({"approve":true})") == "");
  CHECK(f.server->params.size() == 1);
  CHECK(later.member("stopReason") == "final");

  asking g;
  g.server->hold["lookup"] = true;
  g.model->script = {calls({guarded("a")}), calls({call("b", "srv__lookup")}), calls({guarded("c")}), says("done")};
  const auto second = g.start(fixture::ask());
  g.caller_.answer_no_more();
  g.settle();
  caller asked;
  asked.read(**g.runs->find(second));
  g.server->release();
  g.settle();
  REQUIRE(asked.of("question").size() == 1);
  CHECK(contains(asked.of("question")[0], "\"call\":\"c\""));
}

TEST_CASE("L11 L19: a detached run waits for somebody who can answer, and takes one who cannot for nobody") {
  asking f;
  f.model->script = {calls({guarded("a")})};
  auto r = fixture::ask();
  r.run = "night";
  r.detach = true;
  REQUIRE(f.runs->start(std::move(r)).has_value());
  caller watcher;
  watcher.read(**f.runs->find("night"));
  watcher.answer_no_more();
  f.settle();
  CHECK(watcher.of("question").size() == 1);
  CHECK(watcher.of("answer").empty());
  f.time.advance(milliseconds(600'000));
  f.settle();
  CHECK(watcher.member("stopReason") == "needs_approval");
}

TEST_CASE("G40: with approveAfterOutput a tool that may destroy needs a yes once the model has read tool output") {
  asking f;
  f.offer({"lookup", "other"});
  auto reads = std::make_shared<mcp::catalogs::catalog_entry>(*f.entry("reads"));
  reads->annotations.read_only = true;
  auto entries = std::vector<mcp::catalogs::entry_ptr>{f.entry("lookup"), reads};
  f.tools.catalog = std::make_shared<mcp::catalogs::catalog>(entries, 9);
  f.model->script = {calls({call("a", "srv__lookup"), call("b", "srv__lookup")}), calls({call("c", "srv__reads")}),
                     calls({call("d", "srv__lookup")}), says("done")};
  run_limits l;
  l.approve_after_output = true;
  const auto run = f.run(fixture::ask(l));
  CHECK(f.server->params.size() == 3);
  REQUIRE(f.caller_.of("question").size() == 1);
  CHECK(contains(f.caller_.of("question")[0], "\"call\":\"d\""));
  CHECK(contains(f.caller_.of("question")[0], "the model has read what tools returned"));
  CHECK(f.answer(run, f.question(), R"({"approve":false})") == "");
  CHECK(f.server->params.size() == 3);
  CHECK(f.caller_.member("stopReason") == "final");
}

TEST_CASE("G40: tool output that the request or its session brought counts as read too") {
  asking f;
  f.model->script = {calls({call("d", "srv__lookup")})};
  run_limits l;
  l.approve_after_output = true;
  auto r = fixture::ask(l);
  auto results = std::make_shared<providers::message>();
  results->role = providers::role::tool_results;
  results->blocks.emplace_back(providers::tool_result_block{"x", "srv__lookup", text_result("delete all"), false});
  r.messages = {providers::user_message("first"), reply("", {call("x", "srv__lookup")}).message, results,
                providers::user_message("go")};
  f.run(std::move(r));
  CHECK(f.caller_.of("question").size() == 1);
  CHECK(f.server->params.empty());
}

TEST_CASE("L18 L19: who attaches while a question is open is shown it, and all hear that it is answered") {
  asking f;
  f.model->script = {calls({guarded("a")}), says("done")};
  const auto run = f.run();
  caller late;
  late.read(**f.runs->find(run));
  CHECK(contains(late.of("snapshot").at(0), "\"questions\":[" + f.caller_.of("question").at(0) + "]"));
  CHECK(f.answer(run, f.question(), R"({"approve":true})") == "");
  const auto answered = R"({"type":"answer","question":")" + f.question() + R"(","approve":true})";
  CHECK(f.caller_.of("answer") == lines{answered});
  CHECK(late.of("answer") == lines{answered});
  CHECK(late.member("stopReason") == "final");
}

TEST_CASE("L19: a refused call is an error result that says so, and the run goes on") {
  asking f;
  f.model->script = {calls({guarded("a")}), says("done")};
  const auto run = f.run();
  CHECK(f.answer(run, f.question(), R"({"approve":false})") == "");
  CHECK(f.server->params.empty());
  CHECK(f.caller_.of("tool_result").at(0).find("the user refused this call") != std::string::npos);
  CHECK(f.caller_.member("stopReason") == "final");
}

TEST_CASE("L8 L19: no answer in time is a no, and waiting for it does not count against the run's time") {
  asking f;
  f.model->script = {calls({guarded("a")}), says("done")};
  run_limits l;
  l.timeout_ms = 1'000;
  l.question_timeout_ms = 60'000;
  f.run(fixture::ask(l));
  f.time.advance(milliseconds(59'999));
  f.settle();
  CHECK(f.caller_.done.empty());
  f.time.advance(milliseconds(1));
  f.settle();
  CHECK(f.caller_.of("tool_result").at(0).find("nobody answered in time") != std::string::npos);
  CHECK(f.caller_.member("stopReason") == "final");
  CHECK(f.server->params.empty());
}

TEST_CASE("L8: after the answer the run's time goes on from where it stood") {
  asking f;
  f.model->script = {calls({guarded("a")}), silent()};
  run_limits l;
  l.timeout_ms = 1'000;
  const auto run = f.run(fixture::ask(l));
  f.time.advance(milliseconds(30'000));
  f.settle();
  CHECK(f.answer(run, f.question(), R"({"approve":true})") == "");
  f.time.advance(milliseconds(999));
  f.settle();
  CHECK(f.caller_.done.empty());
  f.time.advance(milliseconds(1));
  f.settle();
  CHECK(f.caller_.member("stopReason") == "timeout");
}

TEST_CASE("L19: always answers the questions about the same tool that are open already, each with its record") {
  asking f;
  f.offer({"lookup", "guarded", "guarded_too"});
  f.model->script = {
      calls({guarded("a"), call("b", "srv__guarded_too"), guarded("c"), call("d", "srv__lookup"), guarded("e")}),
      says("done")};
  auto r = fixture::ask();
  r.approve = {"srv__guarded_too"};
  const auto run = f.run(std::move(r));
  lines ids;
  for (const auto& q : f.caller_.of("question")) ids.push_back(member_text(*raw_json::parse(q), "question"));
  REQUIRE(ids.size() == 4);
  CHECK(f.answer(run, ids[2], R"({"approve":true,"always":true})") == "");
  CHECK(f.called() == lines{"lookup", "guarded", "guarded", "guarded"});
  CHECK(f.caller_.of("answer").size() == 3);
  lines answered;
  for (const auto& one : f.written())
    if (const auto* a = std::get_if<record::answer>(&one)) answered.push_back(a->id);
  CHECK(answered == lines{ids[2], ids[0], ids[3]});
  CHECK(contains(f.answer(run, ids[0], R"({"approve":false})"), "was answered"));
  CHECK(f.answer(run, ids[1], R"({"approve":false})") == "");
  CHECK(f.caller_.member("stopReason") == "final");
}

TEST_CASE("L19: a no, a plain yes and an always for another definition leave the other questions open") {
  for (const auto* said : {R"({"approve":false,"always":true})", R"({"approve":true})"}) {
    CAPTURE(said);
    asking f;
    f.model->script = {calls({guarded("a"), guarded("b")}), says("done")};
    const auto run = f.run();
    CHECK(f.answer(run, f.question(), said) == "");
    CHECK(f.caller_.of("answer").size() == 1);
    CHECK(f.caller_.done.empty());
  }
  script s;
  s.model(reply("", {call("a", "guarded"), call("b", "guarded")}));
  auto other = *s.core.find_question("q_a");
  CHECK(s.core.covered_by(other) == lines{"q_b"});
  other.tool_sha256 = "another";
  CHECK(s.core.covered_by(other).empty());
}

TEST_CASE("G39: an answer counts once, for its own question only") {
  asking f;
  f.model->script = {calls({guarded("a"), guarded("b")}), says("done")};
  const auto run = f.run();
  const auto all = f.caller_.of("question");
  REQUIRE(all.size() == 2);
  const auto first = find_member(*raw_json::parse(all[0]), "question").as_string().value();
  CHECK(f.answer(run, first, R"({"approve":true})") == "");
  CHECK(f.server->params.size() == 1);
  CHECK(f.answer(run, first, R"({"approve":true})").find("was answered") != std::string::npos);
  CHECK(f.answer(run, "q_nope", R"({"approve":true})").find("no question \"q_nope\"") != std::string::npos);
  CHECK(f.answer("nope", first, R"({"approve":true})").find("no run is named \"nope\"") != std::string::npos);
  CHECK(f.server->params.size() == 1);
  CHECK(f.answer(run, f.question(), R"({"approve":false})") == "");
  CHECK(f.caller_.member("stopReason") == "final");
}

TEST_CASE("G39: a tool whose definition changed between the question and the yes is not called") {
  asking f;
  f.model->script = {calls({guarded("a")}), says("done")};
  const auto run = f.run();
  f.tools.catalog =
      std::make_shared<mcp::catalogs::catalog>(std::vector<mcp::catalogs::entry_ptr>{f.changed("guarded")}, 99);
  CHECK(f.answer(run, f.question(), R"({"approve":true,"always":true})") == "");
  CHECK(f.server->params.empty());
  CHECK(f.caller_.of("tool_result").at(0).find("changed its definition") != std::string::npos);
  CHECK(f.caller_.member("stopReason") == "final");
}

TEST_CASE("G39: \"always\" ends with the definition it was said of") {
  asking f;
  f.model->script = {calls({guarded("a")}), calls({guarded("b")}), calls({guarded("c")}), says("done")};
  f.server->hold["guarded"] = true;
  const auto run = f.run();
  CHECK(f.answer(run, f.question(), R"({"approve":true,"always":true})") == "");
  f.server->release();
  f.settle();
  CHECK(f.caller_.of("question").size() == 1);  // no question about "b"
  f.tools.catalog =
      std::make_shared<mcp::catalogs::catalog>(std::vector<mcp::catalogs::entry_ptr>{f.changed("guarded")}, 99);
  f.server->release();
  f.settle();
  CHECK(f.caller_.of("question").size() == 2);
  CHECK(f.server->params.size() == 2);
}

TEST_CASE("L19: approve all asks nobody, approve none refuses with the reason") {
  for (auto mode : {approval_mode::all, approval_mode::none}) {
    asking f;
    f.model->script = {calls({guarded("a")}), says("done")};
    run_limits l;
    l.approve = mode;
    f.run(fixture::ask(l));
    CHECK(f.caller_.of("question").empty());
    CHECK(f.server->params.size() == (mode == approval_mode::all ? 1 : 0));
    if (mode == approval_mode::none)
      CHECK(f.caller_.of("tool_result").at(0).find("may not ask for one") != std::string::npos);
  }
}

TEST_CASE("L16: a call that is refused names the server of its tool, one of an unknown tool names none") {
  asking f;
  f.model->script = {calls({guarded("a"), call("b", "srv__nothing")}), says("done")};
  run_limits l;
  l.approve = approval_mode::none;
  f.run(fixture::ask(l));
  CHECK(contains(f.caller_.of("tool_call").at(0), R"("call":"a","name":"srv__guarded","server":"srv")"));
  CHECK(contains(f.caller_.of("tool_call").at(1), R"("call":"b","name":"srv__nothing","server":"")"));
  CHECK(contains(f.caller_.member("toolCalls"), R"({"id":"a","name":"srv__guarded","server":"srv")"));
  CHECK(contains(f.caller_.member("toolCalls"), R"({"id":"b","name":"srv__nothing","server":"")"));
}

TEST_CASE("L19 G39: with approveDestructive, tools that do not say that they only read need a yes") {
  asking f;
  f.model->script = {calls({call("a", "srv__lookup")}), says("done")};
  run_limits l;
  l.approve_destructive = true;
  f.run(fixture::ask(l));
  CHECK(f.caller_.of("question").size() == 1);

  asking g;
  auto safe = std::make_shared<mcp::catalogs::catalog_entry>(*g.entry("lookup"));
  safe->annotations.read_only = true;
  g.tools.catalog = std::make_shared<mcp::catalogs::catalog>(std::vector<mcp::catalogs::entry_ptr>{safe}, 99);
  g.model->script = {calls({call("a", "srv__lookup")}), says("done")};
  g.run(fixture::ask(l));
  CHECK(g.caller_.of("question").empty());
}

TEST_CASE("L18 L19: a cancel while a question is open ends the run, and a late answer finds nothing") {
  asking f;
  f.model->script = {calls({guarded("a")})};
  const auto run = f.run();
  const auto id = f.question();
  CHECK(f.runs->cancel(run, "enough"));
  f.settle();
  CHECK(f.caller_.member("stopReason") == "cancelled");
  CHECK(f.answer(run, id, R"({"approve":true})").find("no run is named") != std::string::npos);
  CHECK(f.server->params.empty());
}

namespace {

/// Holds the append that ends with the record `waits_for` until go_on() is called; then the append fails if `fails` is
/// set. All other appends succeed at once.
class waiting_journal final : public journal {
 public:
  std::unique_ptr<run_journal> open_run(const std::string&) override { return std::make_unique<one>(*this); }
  std::function<void()> go_on;
  std::string waits_for = "run_ended";
  bool fails = false;

 private:
  struct one final : run_journal {
    explicit one(waiting_journal& o) : owner(o) {}
    asio::awaitable<result<void>> append(std::vector<run_record> records, bool) override {
      if (name_of(records.back()) != owner.waits_for) co_return result<void>{};
      asio::steady_timer gate(co_await asio::this_coro::executor, asio::steady_timer::time_point::max());
      owner.go_on = [&gate] { gate.cancel(); };
      boost::system::error_code ignored;
      co_await gate.async_wait(asio::redirect_error(asio::use_awaitable, ignored));
      if (owner.fails) co_return fail(errc::io, "no space left on device");
      co_return result<void>{};
    }
    waiting_journal& owner;
  };
};

}  // namespace

TEST_CASE("L18: who cancels a run hears of it when that is written, and why when it cannot be") {
  for (const bool fails : {false, true}) {
    CAPTURE(fails);
    waiting_journal disk;
    disk.waits_for = "cancel";
    disk.fails = fails;
    fixture f(false, &disk);
    f.unproven = "the journal keeps nothing";
    f.model->script = {silent()};
    const auto run = f.run();
    std::string outcome = "nothing";
    CHECK(f.runs->cancel(run, "enough", [&](const result<void>& kept) { outcome = kept ? "" : kept.error().message; }));
    f.settle();
    CHECK(outcome == "nothing");
    REQUIRE(disk.go_on);
    disk.go_on();
    f.settle();
    CHECK(outcome == (fails ? "the cancellation could not be stored; the run ends" : ""));
    CHECK(f.caller_.member("stopReason") == (fails ? "store_error" : "cancelled"));
  }
}

TEST_CASE("L18: who cancels a run whose end is being written hears that it is over") {
  waiting_journal disk;
  fixture f(false, &disk);
  f.unproven = "the journal keeps nothing";
  f.model->script = {says("done")};
  const auto run = f.run();
  REQUIRE(disk.go_on);
  std::string outcome = "nothing";
  CHECK(f.runs->cancel(run, "enough", [&](const result<void>& kept) { outcome = kept ? "" : kept.error().message; }));
  f.settle();
  CHECK(outcome == "nothing");
  disk.go_on();
  f.settle();
  CHECK(outcome.empty());
  CHECK(f.caller_.member("stopReason") == "final");
}

TEST_CASE("L18 L19: an answer that comes while the end of its run is being written is told that it is too late") {
  waiting_journal disk;
  fixture f(false, &disk);
  f.unproven = "the journal keeps nothing";
  f.offer({"guarded"});
  f.model->script = {calls({guarded("a")})};
  const auto run = f.run();
  CHECK(f.runs->cancel(run, "enough"));
  f.settle();
  REQUIRE(disk.go_on);
  std::string outcome = "nothing";
  f.runs->answer(run, "q_late", raw_json::literal(R"({"approve":true})"),
                 [&](const result<void>& kept) { outcome = kept ? "" : kept.error().message; });
  f.settle();
  CHECK(outcome == "nothing");
  disk.go_on();
  f.settle();
  CHECK(outcome == "no question \"q_late\" is open in this run; it was answered or has expired");
  CHECK(f.caller_.member("stopReason") == "cancelled");
}

TEST_CASE("L21: calls of the caller's own tools are handed back and the run goes on with their results") {
  fixture f;
  f.model->script = {calls({call("a", "mine"), call("b", "srv__lookup")}), says("done")};
  f.run(with_own_tool("talk"));
  CHECK(f.caller_.member("stopReason") == "caller_tools");
  CHECK(f.caller_.member("toolCalls").find(R"("name":"mine","server":"","arguments":{"of":"a"})") != std::string::npos);
  CHECK(f.caller_.member("toolCalls").find(R"("pending":true)") != std::string::npos);
  CHECK(f.model->requests.at(0).tools->tools.back().name == "mine");
  CHECK(f.runs->active() == 1);
  f.caller_ = {};
  f.run(results_for("talk", {"a"}));
  CHECK(f.caller_.member("stopReason") == "final");
  CHECK(f.caller_.member("text") == "done");
  const auto& results = *f.model->requests.at(1).messages.back();
  CHECK(std::get<providers::tool_result_block>(results.blocks.at(0)).result.text() ==
        R"({"content":[{"type":"text","text":"from the caller"}]})");
}

TEST_CASE("L21: what the caller says of its own tools has the names that the model is shown for them") {
  fixture f;
  f.model->script = {says("done")};
  auto r = with_own_tool("talk");
  r.client_tools = {own_tool("1tool"), own_tool("plain")};
  auto said = std::make_shared<providers::message>();
  said->role = providers::role::assistant;
  said->blocks = {call("a", "1tool"), call("b", "plain"), call("c", "gone-1")};
  auto results = std::make_shared<providers::message>();
  results->role = providers::role::tool_results;
  for (const auto& c : said->calls())
    results->blocks.emplace_back(providers::tool_result_block{c->id, c->name, text_result("x"), false});
  r.messages = {providers::user_message("q"), said, results};
  f.run(std::move(r));
  const auto& asked = f.model->requests.at(0);
  std::vector<std::string> shown, told;
  for (const auto& t : asked.tools->tools) shown.push_back(t.name);
  CHECK(std::ranges::find(shown, "t_1tool") != shown.end());
  for (const auto& m : asked.messages)
    for (const auto& b : m->blocks) {
      if (const auto* c = std::get_if<providers::tool_call_block>(&b)) told.push_back(c->name);
      if (const auto* t = std::get_if<providers::tool_result_block>(&b)) told.push_back(t->name);
    }
  CHECK(told == std::vector<std::string>{"t_1tool", "plain", "gone-1", "t_1tool", "plain", "gone-1"});
}

TEST_CASE("L18 L21: a parked run gives its result to who attaches, and goes on for who brings the results") {
  for (const bool detach : {false, true}) {
    CAPTURE(detach);
    fixture f;
    f.model->script = {calls({call("a", "mine")}), says("done")};
    auto r = with_own_tool("talk");
    r.detach = detach;
    f.run(std::move(r));
    CHECK(f.caller_.member("stopReason") == "caller_tools");
    caller back;
    back.read(**f.runs->find("talk"));
    CHECK(back.member("stopReason") == "caller_tools");
    const auto had = back.numbers.back();
    auto results = results_for("talk", {"a"});
    results.detach = true;
    CHECK(contains(f.runs->start(results).error().message, "leave out \"detach\""));
    caller next;
    results.detach = false;
    REQUIRE(f.runs->start(std::move(results), next).has_value());
    caller other;
    other.read(**f.runs->find("talk"), {.after = had});
    f.settle();
    CHECK(next.member("text") == "done");
    CHECK(other.member("text") == "done");
    CHECK(next.of("snapshot").size() == 1);
    CHECK(other.of("snapshot").empty());
    CHECK(other.numbers.front() == had + 1);
    CHECK(f.runs->active() == 0);
    CHECK(f.runs->find("talk").has_value() == detach);
  }
}

TEST_CASE("L18 L21: who attaches to a parked run that was cancelled waits for its end") {
  for (const bool detach : {false, true}) {
    CAPTURE(detach);
    fixture f;
    f.model->script = {calls({call("a", "mine")})};
    auto r = with_own_tool("talk");
    r.detach = detach;
    f.run(std::move(r));
    CHECK(f.caller_.member("stopReason") == "caller_tools");
    CHECK(f.runs->cancel("talk", "enough"));
    caller back, brings;
    back.read(**f.runs->find("talk"), {.after = f.caller_.numbers.back()});
    CHECK(back.done.empty());
    REQUIRE(f.runs->start(results_for("talk", {"a"}), brings).has_value());
    f.settle();
    CHECK(back.member("stopReason") == "cancelled");
    CHECK(brings.member("stopReason") == "cancelled");
    CHECK_FALSE(contains(back.member("toolCalls"), "pending"));
    CHECK(f.runs->active() == 0);
  }
}

TEST_CASE("L8 L18 L21: a detached run whose results do not come ends, and tells it to who attaches later") {
  fixture f;
  f.model->script = {calls({call("a", "mine")})};
  auto r = with_own_tool("talk");
  r.detach = true;
  r.limits.question_timeout_ms = 60'000;
  f.run(std::move(r));
  f.time.advance(milliseconds(60'000));
  f.settle();
  CHECK(f.runs->active() == 0);
  caller late;
  late.read(**f.runs->find("talk"));
  CHECK(late.member("stopReason") == "caller_tools");
  CHECK(contains(late.member("reason"), "did not send the results of its own tools"));
}

TEST_CASE("L21: results that are not those waited for are refused, and the run still waits") {
  fixture f;
  f.model->script = {calls({call("a", "mine"), call("b", "mine")}), says("done")};
  f.run(with_own_tool("talk"));
  f.caller_ = {};
  const auto refused = [&](const std::string& run, const std::vector<std::string>& ids) {
    const auto r = f.runs->start(results_for(run, ids), f.caller_);
    return r ? std::string() : r.error().message;
  };
  CHECK(refused("talk", {"a"}) ==
        "run \"talk\" needs exactly one result for call \"b\"; send the results of all 2 calls together");
  CHECK(refused("talk", {"a", "b", "b"}).find("one result for call \"b\"") != std::string::npos);
  CHECK(refused("talk", {"a", "b", "c"}) == "run \"talk\" waits for 2 results, and 3 were sent");
  CHECK(refused("nope", {"a"}).find("no run is named \"nope\"") != std::string::npos);
  CHECK(refused("talk", {"a", "b"}) == "");
  CHECK(refused("talk", {"a", "b"}).find("does not wait for results") != std::string::npos);
  f.settle();
  CHECK(f.caller_.member("stopReason") == "final");
}

TEST_CASE("L8 L21: a parked run waits as long as a question, then it ends") {
  fixture f;
  f.model->script = {calls({call("a", "mine")})};
  auto r = with_own_tool("talk");
  r.limits.timeout_ms = 1'000;
  r.limits.question_timeout_ms = 60'000;
  f.run(std::move(r));
  f.time.advance(milliseconds(59'999));
  f.settle();
  CHECK(f.runs->active() == 1);
  f.time.advance(milliseconds(1));
  f.settle();
  CHECK(f.runs->active() == 0);
  const auto& end = std::get<record::run_ended>(f.written().back());
  CHECK(end.reason == stop_reason::caller_tools);
  CHECK(fault_of(f.written()) == "");
  // The text does not say that the call was not executed: the caller may have done so.
  const auto& told = std::get<record::call_result>(f.written().at(f.written().size() - 2));
  CHECK(told.result.text() == daemon::loop::words::error_result(
                                  "No result: the program that was to carry out this call sent no result in time.")
                                  .text());
  CHECK(told.cause == record::result_cause::timed_out);
}

TEST_CASE(
    "L10 L21: arguments of the caller's own tools are checked like all others, and its tool hides one of a server") {
  fixture f;
  auto r = with_own_tool("talk");
  r.client_tools.push_back(own_tool("srv__lookup"));
  f.model->script = {calls({call("a", "mine", R"({"of":1})")}), calls({call("b", "srv__lookup")})};
  f.run(std::move(r));
  CHECK(f.server->params.empty());
  CHECK(f.caller_.of("tool_result").at(0).find("do not fit the schema of") != std::string::npos);
  CHECK(f.caller_.member("stopReason") == "caller_tools");
}

TEST_CASE("G23: what is acknowledged is synced before it: a detached start, an answer, the caller's turn, the end") {
  for (const bool detach : {true, false}) {
    asking f;
    f.model->script = {calls({guarded("a"), call("b", "mine")}), says("done")};
    auto r = with_own_tool("talk");
    r.detach = detach;
    if (detach) {
      REQUIRE(f.runs->start(r).has_value());
      f.settle();
      f.caller_.read(**f.runs->find("talk"));
    } else {
      f.run(r);
    }
    CHECK(f.answer("talk", f.question(), R"({"approve":true})") == "");
    f.caller_ = {};
    f.run(results_for("talk", {"b"}));
    CHECK(f.caller_.member("stopReason") == "final");
    const auto& run = *f.kept.runs().back();
    lines told;
    for (std::size_t i = 0; i < run.records.size(); ++i)
      told.push_back(std::string(name_of(run.records[i])) + (run.synced[i] ? " synced" : ""));
    // A record that is written together with a synced one is synced with it.
    CHECK(told == lines{detach ? "run_started synced" : "run_started", "round_started", "assistant", "question",
                        "call_intent", "answer synced", "call_intent", "call_result synced", "parked synced",
                        "caller_result synced", "round_started", "assistant synced", "run_ended synced"});
  }
}

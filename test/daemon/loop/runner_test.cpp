// Live runs of the runner, with scripted models and servers: rounds, limits, texts, results, and the end. At the end of
// each test the fixture checks every run against the commands of its records.
#include "daemon/loop/run/runner.hpp"

#include "daemon/loop/core/recovery.hpp"
#include "mcp/support/log.hpp"
#include "mcp/support/text.hpp"
#include "test/daemon/loop/core/wire_history.hpp"
#include "test/daemon/loop/loop_fixture.hpp"

#include <doctest/doctest.h>

#include <algorithm>
#include <optional>
#include <string>
#include <vector>

using namespace mcpbx;
using namespace mcpbx::daemon::core;
using namespace mcpbx::daemon::run;
using namespace mcpbx::daemon::stored;
using namespace mcpbx::daemon::test;
using namespace mcpbx::json;

namespace {

lines names(const std::vector<run_record>& records) {
  lines all;
  for (const auto& r : records) all.emplace_back(name_of(r));
  return all;
}

}  // namespace

TEST_CASE("L1: a run calls the model and its tools until the model answers") {
  fixture f;
  f.model->script = {calls({lookup("a")}), calls({lookup("b"), lookup("c")}), says("done")};
  f.run();
  CHECK(f.caller_.member("stopReason") == "final");
  CHECK(f.caller_.member("text") == "done");
  CHECK(f.caller_.member("rounds") == "3");
  CHECK(f.server->params.size() == 3);
  CHECK(f.server->params[0] == R"({"name":"lookup","arguments":{"of":"a"}})");
  CHECK(names(f.written()) == lines{"run_started", "round_started", "assistant", "call_intent", "call_result",
                                    "round_started", "assistant", "call_intent", "call_intent", "call_result",
                                    "call_result", "round_started", "assistant", "run_ended"});
  CHECK(f.runs->active() == 0);
}

TEST_CASE("a model's own system prompt stands where the request brings none") {
  fixture f;
  f.model->system = "Speak plainly.";
  f.model->script = {says("done")};
  auto bare = fixture::ask();
  bare.system = "";
  f.run(bare);
  CHECK(f.model->requests.at(0).messages.front()->text().starts_with("Speak plainly."));

  fixture g;
  g.model->system = "Speak plainly.";
  g.model->script = {says("done")};
  g.run();
  CHECK(g.model->requests.at(0).messages.front()->text().starts_with("be brief"));
  CHECK_FALSE(contains(g.model->requests.at(0).messages.front()->text(), "plainly"));
}

TEST_CASE("L2: text leaves at once and the end comes once after the deepest level") {
  fixture f;
  auto first = says("let me see", {lookup("a")});
  first.deltas = {"let me", " see"};
  f.model->script = {first, says("done")};
  f.run();
  CHECK(f.caller_.of("text") == lines{"text let me", "text  see", "text done"});
  CHECK(f.caller_.done.size() == 1);
}

TEST_CASE("L2: with stream off no text is sent and the result has it") {
  fixture f;
  f.model->script = {says("done")};
  auto r = fixture::ask();
  r.stream = false;
  f.run(std::move(r));
  CHECK(f.caller_.of("text").empty());
  CHECK(f.caller_.member("text") == "done");
}

TEST_CASE("L3: the model is given the very messages that it made") {
  fixture f;
  f.model->script = {says("thinking aloud", {lookup("a")}), says("done")};
  f.run();
  REQUIRE(f.model->requests.size() == 2);
  const auto& m = f.model->requests[1].messages;
  REQUIRE(m.size() == 4);
  CHECK(m[0] == f.model->requests[0].messages[0]);
  CHECK(m[2]->text() == "thinking aloud");
  CHECK(fault_of(m) == "");
}

TEST_CASE("L3: events have exactly the members of the contract and their order") {
  fixture f;
  f.server->tools["lookup"] = [](const mcp::clients::server_call& c) {
    c.progress(raw_json::literal(R"({"progressToken":9,"progress":1.50,"total":3,"message":"half"})"));
    return mcp::rpc::call_outcome{
        mcp::rpc::call_outcome::kind::result,
        raw_json::literal(R"({"content":[{"type":"text","text":"42","x":1.0}],"isError":false})"),
        {}};
  };
  f.model->script = {calls({lookup("a")}), says("done")};
  f.run();
  CHECK(
      f.caller_.events ==
      lines{
          R"({"type":"round","round":1,"model":"scripted"})",
          R"({"type":"usage","inputTokens":10,"outputTokens":5,"cachedTokens":2})",
          R"({"type":"tool_call","call":"a","name":"srv__lookup","server":"srv","arguments":{"of":"a"}})",
          R"({"type":"tool_progress","call":"a","progress":1.50,"total":3,"message":"half"})",
          R"({"type":"tool_result","call":"a","isError":false,"durationMs":0,"content":[{"type":"text","text":"42","x":1.0}]})",
          R"({"type":"round","round":2,"model":"scripted"})", "text done",
          R"({"type":"usage","inputTokens":20,"outputTokens":10,"cachedTokens":4})"});
}

TEST_CASE("L3: a server has its call before the caller is told of it") {
  fixture f;
  std::optional<std::size_t> told;
  f.server->tools["lookup"] = [&](const mcp::clients::server_call&) {
    told = f.caller_.of("tool_call").size();
    return mcp::rpc::call_outcome{mcp::rpc::call_outcome::kind::result, raw_json::literal(R"({"content":[]})"), {}};
  };
  f.model->script = {calls({lookup("a")}), says("done")};
  f.run();
  CHECK(told == 0U);
  CHECK(f.caller_.of("tool_call").size() == 1);
}

TEST_CASE("L5: the last call is made without tools") {
  fixture f;
  run_limits l;
  l.max_rounds = 1;
  f.model->script = {calls({lookup("a")}), says("what I know")};
  f.run(fixture::ask(l));
  CHECK(f.model->requests[0].tools->tools.size() == 2);
  CHECK(f.model->requests[1].offered() == nullptr);
  CHECK(f.caller_.member("stopReason") == "max_rounds");
  CHECK(f.caller_.member("text") == "what I know");
}

TEST_CASE("G32: a model that calls tools for ever is stopped by the rounds") {
  fixture f;
  f.model->endless = [](std::size_t i) { return calls({lookup("c" + std::to_string(i))}); };
  f.run();
  CHECK(f.caller_.member("stopReason") == "max_rounds");
  CHECK(f.model->requests.size() == 11);
  CHECK(f.server->params.size() == 10);
}

TEST_CASE("L7: the guidance joins the system prompt with names only, can be replaced and switched off") {
  fixture f;
  const auto with = [](bool on, std::string text) {
    auto r = fixture::ask();
    r.limits.guidance = {on, std::move(text)};
    return r;
  };
  const auto system_of = [&](run_request r) {
    f.model->script = {says("fine")};
    f.caller_.done.clear();
    f.run(std::move(r));
    return f.model->requests.back().messages.front()->text();
  };
  const auto system = system_of(with(true, ""));
  CHECK(system.starts_with("be brief\n\nYou can call tools"));
  CHECK(contains(system, "srv__lookup, srv__other"));
  CHECK(system_of(with(true, "Use few tools.")) == "be brief\n\nUse few tools.");
  CHECK(system_of(with(false, "")) == "be brief");
  // A conversation that is continued has the guidance already.
  auto r = with(true, "");
  r.system.clear();
  r.messages.insert(r.messages.begin(), providers::system_message(system));
  CHECK(system_of(std::move(r)) == system);
  CHECK(f.model->requests.back().messages.size() == 2);
  auto without_tools = with(true, "");
  without_tools.limits.max_rounds = 0;
  CHECK(system_of(std::move(without_tools)) == "be brief");
}

TEST_CASE("L6: progressive rounds say where the run stands, each in its own words, and the history never has them") {
  fixture f;
  f.model->script = {calls({lookup("a")}), calls({lookup("b")}), calls({lookup("c")}), says("done")};
  run_limits l;
  l.max_rounds = 3;
  l.round_prompts = round_prompt_mode::progressive;
  l.round_texts.middle = "{round} and {remaining} and {round}";
  f.run(fixture::ask(l));
  REQUIRE(f.model->requests.size() == 4);
  CHECK(f.model->requests[0].note.starts_with("[Round 1. Rounds in which tools may be called, this one included: 3."));
  CHECK(f.model->requests[1].note == "2 and 2 and 2");
  CHECK(f.model->requests[2].note == "3 and 1 and 3");
  CHECK(f.model->requests[3].note.starts_with("[Round 4, the last one"));
  CHECK(f.model->requests[3].offered() == nullptr);
  for (const auto& r : f.model->requests)
    for (const auto& m : r.messages) CHECK_FALSE(contains(m->text(), "ound 1"));
  CHECK_FALSE(contains(f.caller_.done.at(0).text(), "[Round"));
}

TEST_CASE("L6: with onLimit stop the last round that offers tools is told so, and implicit rounds are told nothing") {
  run_limits l;
  l.max_rounds = 2;
  l.on_limit = limit_policy::stop;
  l.round_prompts = round_prompt_mode::progressive;
  l.round_texts = {"first", "middle", "last"};
  fixture f;
  f.model->script = {calls({lookup("a")}), says("done")};
  f.run(fixture::ask(l));
  CHECK(f.model->requests.at(0).note == "first");
  CHECK(f.model->requests.at(1).note == "last");
  CHECK(f.model->requests.at(1).tools != nullptr);
  f.caller_.done.clear();
  l.round_prompts = round_prompt_mode::implicit;
  f.model->script = {says("done")};
  f.run(fixture::ask(l));
  CHECK(f.model->requests.at(2).note == "");
}

TEST_CASE("L23: the schema is told in the system prompt and to the model, and the value is in the result") {
  fixture f;
  f.model->script = {calls({lookup("a")}), says("not yet"), says(R"({"ok":true})")};
  auto r = fixture::ask();
  r.answer_schema = raw_json::literal(R"({"type":"object","required":["ok"]})");
  f.run(std::move(r));
  REQUIRE(f.model->requests.size() == 3);
  CHECK(contains(f.model->requests[0].messages.front()->text(), R"({"type":"object","required":["ok"]})"));
  for (const auto& q : f.model->requests) CHECK(q.answer_schema.text() == R"({"type":"object","required":["ok"]})");
  CHECK(f.model->requests[0].tools != nullptr);
  CHECK(f.model->requests[2].offered() == nullptr);
  CHECK(f.caller_.member("data") == R"({"ok":true})");
  CHECK(f.caller_.member("stopReason") == "final");
}

TEST_CASE("L8: estimated tokens count against the budget, and the result marks them and tells the cached ones") {
  fixture f;
  auto first = calls({lookup("a")});
  first.reply->usage = {60, 40, 50, 0, 0, true};
  f.model->script = {first};
  run_limits l;
  l.token_budget = 100;
  f.run(fixture::ask(l));
  CHECK(f.caller_.member("stopReason") == "token_budget");
  CHECK(f.caller_.member("usage") == R"({"inputTokens":60,"outputTokens":40,"cachedTokens":50,"estimated":true})");
}

TEST_CASE("L8: the time limit of the run cancels what is open") {
  fixture f;
  run_limits l;
  l.timeout_ms = 5000;
  f.server->hold["lookup"] = true;
  f.model->script = {calls({lookup("a")})};
  f.run(fixture::ask(l));
  f.time.advance(milliseconds(4999));
  f.settle();
  CHECK(f.caller_.done.empty());
  f.time.advance(milliseconds(1));
  f.settle();
  CHECK(f.caller_.member("stopReason") == "timeout");
  CHECK(f.caller_.member("reason") == "Unable to complete task: the time limit of 5 s for the run was reached.");
  CHECK(f.server->cancelled == 1);
  CHECK(contains(f.caller_.of("tool_result").at(0), "\"durationMs\":5000"));
  CHECK(f.time.armed() == 0);
}

TEST_CASE("L8 L13: a model call knows by when the run needs its answer") {
  fixture f;
  run_limits l;
  l.timeout_ms = 5000;
  f.server->hold["lookup"] = true;
  f.model->script = {calls({lookup("a")}), says("done"), says("done")};
  const auto began = f.time.now();
  f.run(fixture::ask(l));
  f.time.advance(milliseconds(700));
  f.server->release();
  f.settle();
  REQUIRE(f.model->requests.size() == 2);
  for (const auto& r : f.model->requests) CHECK(r.needed_by == began + milliseconds(5000));
  l.timeout_ms = 0;
  f.caller_.done.clear();
  f.run(fixture::ask(l));
  CHECK(f.model->requests.at(2).needed_by == never);
}

TEST_CASE("L8: elapsed time is in the records") {
  fixture f;
  f.server->hold["lookup"] = true;
  f.model->script = {calls({lookup("a")}), says("done")};
  f.run();
  f.time.advance(milliseconds(700));
  f.server->release();
  f.settle();
  CHECK(std::get<record::round_started>(f.written()[5]).elapsed_ms == 700);
  CHECK(std::get<record::call_result>(f.written()[4]).ms == 700);
}

TEST_CASE("L9: a failing tool goes back to the model as an error result") {
  fixture f;
  f.server->tools["lookup"] = [](const mcp::clients::server_call&) {
    return mcp::rpc::call_outcome{mcp::rpc::call_outcome::kind::result,
                                  raw_json::literal(R"({"content":[{"type":"text","text":"no"}],"isError":true})"),
                                  {}};
  };
  f.model->script = {calls({lookup("a")}), says("it said no")};
  f.run();
  CHECK(f.caller_.member("stopReason") == "final");
  CHECK(contains(f.caller_.member("toolCalls"), "\"isError\":true"));
}

TEST_CASE("L9: onToolError stop begins no call behind one that is refused, and the one in front of it is made") {
  auto torn = lookup("bad");
  torn.arguments = {};
  torn.problem = "the JSON ends in the middle of an object";
  for (const auto& bad : {torn, call("bad", "srv__nope"), call("bad", "srv__strict", R"({"n":"x"})")})
    for (const int concurrency : {1, 2, 8})
      for (const bool first : {true, false}) {
        CAPTURE(bad.name);
        CAPTURE(concurrency);
        fixture f;
        auto strict = std::make_shared<mcp::catalogs::catalog_entry>(*f.entry("strict"));
        strict->definition = raw_json::literal(
            R"({"name":"strict","inputSchema":{"type":"object","properties":{"n":{"type":"integer"}}}})");
        f.tools.catalog = std::make_shared<mcp::catalogs::catalog>(
            std::vector<mcp::catalogs::entry_ptr>{f.entry("lookup"), f.entry("other"), strict}, 9);
        std::vector<providers::tool_call_block> all{bad, call("b", "srv__other"), call("c", "srv__other")};
        if (!first) all.insert(all.begin(), lookup("a"));
        f.model->script = {calls(all), says("done")};
        run_limits l;
        l.on_tool_error = tool_error_policy::stop;
        l.tool_concurrency = concurrency;
        f.run(fixture::ask(l));
        CHECK(f.called() == (first ? lines{} : lines{"lookup"}));
        CHECK(f.model->requests.size() == 1);
        CHECK(f.caller_.member("stopReason") == "tool_error");
        CHECK(std::ranges::count_if(f.caller_.of("tool_result"), [](const std::string& e) {
                return contains(e, daemon::loop::words::stopped_at_failure);
              }) == 2);
      }
}

TEST_CASE("G3: a call whose server died is not repeated by itself") {
  fixture f;
  f.server->tools["lookup"] = [](const mcp::clients::server_call&) {
    return mcp::rpc::call_outcome::failed(errc::unavailable, "server \"srv\" died");
  };
  f.model->script = {calls({lookup("a")}), says("done")};
  f.run();
  CHECK(f.server->params.size() == 1);
  CHECK_FALSE(std::get<record::call_intent>(f.written()[3]).repeatable);
}

TEST_CASE("G28: a broken model stream is an error with its sentence and never an answer") {
  fixture f;
  providers::model_error e;
  e.type = providers::model_error::kind::cut;
  e.message = "the model \"scripted\" stopped in the middle of its answer";
  e.partial_text = "half an";
  e.retryable = true;
  f.model->script = {breaks(e)};
  f.run();
  CHECK(f.caller_.member("stopReason") == "provider_error");
  CHECK(f.caller_.member("text") == "");
  CHECK(
      f.caller_.of("error") ==
      lines{
          R"({"type":"error","message":"the model \"scripted\" stopped in the middle of its answer","retryable":true,"partial":true})"});
  // The text that came is reported as a part, and nowhere as an answer.
  CHECK(f.caller_.member("partialText") == "half an");
  CHECK_FALSE(contains(f.caller_.member("messages"), "half an"));
  CHECK(folded(f.written()).partial_text == "half an");
  CHECK(folded(f.written()).messages.size() == 1);
}

TEST_CASE("G29: calls without ids or with the same id have one result each") {
  fixture f;
  f.model->script = {calls({lookup("same"), lookup("same"), lookup("")}), calls({lookup("same")}), says("done")};
  f.run();
  CHECK(f.caller_.member("stopReason") == "final");
  CHECK(f.server->params.size() == 4);
  CHECK(fault_of(f.model->requests.back().messages) == "");
}

TEST_CASE("L12: calls of one round run at the same time and an early answer waits for its turn") {
  fixture f;
  f.server->hold["lookup"] = true;
  f.model->script = {calls({lookup("a"), call("b", "srv__other")}), says("done")};
  f.run();
  CHECK(f.server->params.size() == 2);
  CHECK(f.caller_.of("tool_result").size() == 1);
  f.server->release("late");
  f.settle();
  const auto& results = *f.model->requests[1].messages.back();
  CHECK(std::get<providers::tool_result_block>(results.blocks[0]).call_id == "a");
  CHECK(std::get<providers::tool_result_block>(results.blocks[1]).call_id == "b");
}

TEST_CASE("L15: status lines follow the stages") {
  fixture f;
  f.tools.catalog = std::make_shared<mcp::catalogs::catalog>(
      std::vector<mcp::catalogs::entry_ptr>{f.entry("lookup_tool"), f.entry("other", "Other Things")}, 5);
  f.server->tools["other"] = [](const mcp::clients::server_call&) {
    return mcp::rpc::call_outcome::failed(errc::timed_out, "too slow");
  };
  f.model->script = {calls({call("a", "srv__lookup_tool")}), calls({call("b", "srv__other")}), says("done")};
  auto r = fixture::ask();
  r.limits.status = status_mode::names;
  f.run(std::move(r));
  CHECK(
      f.caller_.of("status") ==
      lines{
          R"({"type":"status","text":"Analyzing request..."})",
          R"({"type":"status","text":"Selecting appropriate tools..."})",
          R"({"type":"status","text":"Using Lookup Tool...","tool":"srv__lookup_tool"})",
          R"({"type":"status","text":"Processing tool results..."})",
          R"({"type":"status","text":"Selecting appropriate tools..."})",
          R"({"type":"status","text":"Using Other Things...","tool":"srv__other"})",
          R"({"type":"status","text":"Tool Other Things failed, trying alternative approach...","tool":"srv__other"})",
          R"({"type":"status","text":"Processing tool results..."})",
          R"({"type":"status","text":"Formulating response..."})"});
}

TEST_CASE("L15: people are told that a call could not be read, not that a tool of its name failed") {
  fixture f;
  auto unread = call("a", "unreadable");
  unread.arguments = {};
  unread.problem = "The tool call could not be read. Write it again.";
  f.model->script = {calls({unread}), says("done")};
  auto r = fixture::ask();
  r.limits.status = status_mode::names;
  f.run(std::move(r));
  const auto told = f.caller_.of("status");
  CHECK(std::ranges::count(told,
                           R"({"type":"status","text":"A tool call could not be read, asking for it again..."})") == 1);
  for (const auto& line : told) CHECK_FALSE(contains(line, "nreadable failed"));
}

TEST_CASE("L15: the last call without tools is announced once") {
  fixture f;
  run_limits l;
  l.max_rounds = 1;
  auto last = says("what I know");
  last.deltas = {"what", " I know"};
  f.model->script = {calls({lookup("a")}), last};
  auto r = fixture::ask(l);
  r.limits.status = status_mode::names;
  f.run(std::move(r));
  const auto told = f.caller_.of("status");
  CHECK(std::ranges::count(told, R"({"type":"status","text":"Formulating response..."})") == 1);
}

TEST_CASE("L15: a run that stops without an answer says so on the status line") {
  fixture f;
  providers::model_error e;
  e.message = "no key";
  f.model->script = {breaks(e)};
  auto r = fixture::ask();
  r.limits.status = status_mode::names;
  f.run(std::move(r));
  CHECK(f.caller_.of("status").back() == R"({"type":"status","text":"Stopped: no key."})");
}

TEST_CASE("runner: the first round waits for servers and a later round sees what came up") {
  fixture f;
  f.tools.settled = false;
  f.model->script = {calls({lookup("a")}), says("done")};
  f.server->tools["lookup"] = [&](const mcp::clients::server_call&) {
    f.offer({"lookup", "other", "late"});
    return mcp::rpc::call_outcome{mcp::rpc::call_outcome::kind::result, text_result("x"), {}};
  };
  f.run();
  CHECK(f.model->requests.empty());
  f.tools.waiting();
  f.settle();
  CHECK(f.model->requests[0].tools->tools.size() == 2);
  CHECK(f.model->requests[1].tools->tools.size() == 3);
}

TEST_CASE("runner: rounds and runs share one tool set while nothing changes") {
  fixture f;
  f.model->script = {calls({lookup("a")}), says("done"), says("again")};
  f.run();
  f.caller_.done.clear();
  f.tools.catalog = std::make_shared<mcp::catalogs::catalog>(
      std::vector<mcp::catalogs::entry_ptr>(f.tools.catalog->entries().begin(), f.tools.catalog->entries().end()), 99);
  f.run();
  CHECK(f.model->requests[0].tools == f.model->requests[1].tools);
  CHECK(f.model->requests[0].tools == f.model->requests[2].tools);
}

TEST_CASE("runner: unknown models and names in use and too many runs are errors") {
  fixture f;
  auto r = fixture::ask();
  r.model = "nope";
  CHECK(f.runs->start(r, f.caller_).error().code == errc::not_found);
  r.model = "scripted";
  r.run = "mine";
  f.model->script = {silent()};
  CHECK(f.run(r) == "mine");
  CHECK(f.runs->start(r, f.caller_).error().code == errc::invalid_argument);
  f.runs->cancel("mine", "");
  f.caller_.then = [&] {  // the run's name is free when `done` arrives
    f.caller_.done.clear();
    CHECK(f.runs->start(r, f.caller_).has_value());
  };
  f.settle();
  f.caller_.then = nullptr;
  CHECK(f.runs->active() == 1);
  std::size_t started = 1;
  while (f.runs->start(fixture::ask(), f.caller_).has_value()) ++started;
  CHECK(started == 1024);
  f.caller_.leave();
  f.settle();
}

TEST_CASE("L11: a journal that cannot be written ends the run with store_error") {
  for (const auto* at : {"run_started", "round_started", "assistant", "call_intent", "call_result", "run_ended"}) {
    CAPTURE(at);
    fixture f(true);
    f.failing.fail_at = at;
    f.model->script = {calls({lookup("a"), lookup("b")}), says("done")};
    f.run();
    CHECK(f.caller_.member("stopReason") == "store_error");
    CHECK(contains(f.caller_.member("reason"), "no space left on device"));
    CHECK(f.caller_.done.size() == 1);
    CHECK(f.server->open.empty());
  }
}

TEST_CASE("L22: the log tells each level and the histogram counts depths and stop reasons") {
  std::vector<std::string> logged;
  log::install(log::level::debug, [&](log::level, std::string_view line) { logged.emplace_back(line); });
  {
    fixture f;
    f.model->script = {calls({lookup("a")}), calls({lookup("b")}), calls({lookup("c")}), says("done"), says("at once")};
    f.run();
    f.caller_.done.clear();
    f.run();
    const auto& c = f.runs->counts();
    CHECK(c.runs == 2);
    CHECK(c.active == 0);
    CHECK(c.rounds == 5);
    CHECK(c.calls == 3);
    CHECK(c.depth[0] == 1);
    CHECK(c.depth[3] == 1);
    REQUIRE(c.stops.size() == 1);
    CHECK(c.stops[0] == std::pair<std::string, std::uint64_t>("final", 2));
  }
  log::install(log::level::off, {});
  const auto has = [&](std::string_view part) {
    return std::ranges::any_of(logged, [&](const auto& l) { return contains(l, part); });
  };
  CHECK(has("depth 2 begins: 6 messages, 2 tools, model scripted"));
  CHECK(has("calls srv__lookup"));
  CHECK(has("depth 0: srv__lookup answered after 0 ms"));
  CHECK(has("ended at depth 3 after 4 rounds"));
}

TEST_CASE("runner: shutting down interrupts every run and refuses new ones") {
  fixture f;
  f.model->script = {silent()};
  f.run();
  bool joined = false;
  asio::co_spawn(
      f.context, [&]() -> asio::awaitable<void> { co_await f.runs->shut_down(); },
      [&](std::exception_ptr e) { joined = !e; });
  f.settle();
  CHECK(joined);
  CHECK(f.caller_.member("stopReason") == "interrupted");
  CHECK(f.runs->start(fixture::ask(), f.caller_).error().code == errc::unavailable);
}

TEST_CASE("G20: when mcpbx stops runs may end for a while and their calls are closed as interrupted after it") {
  for (const bool answers : {true, false}) {
    CAPTURE(answers);
    fixture f;
    f.server->hold["lookup"] = true;
    f.model->script = {calls({lookup("a")}), says("done")};
    f.run();
    REQUIRE(f.server->open.size() == 1);
    bool joined = false;
    asio::co_spawn(
        f.context, [&]() -> asio::awaitable<void> { co_await f.runs->shut_down(milliseconds(3000)); },
        [&](std::exception_ptr e) { joined = !e; });
    f.settle();
    f.time.advance(milliseconds(2999));
    f.settle();
    CHECK_FALSE(joined);
    CHECK(f.runs->start(fixture::ask(), f.caller_).error().code == errc::unavailable);
    if (answers) f.server->release();
    f.time.advance(milliseconds(answers ? 0 : 1));
    f.settle();
    CHECK(joined);
    CHECK(f.caller_.member("stopReason") == (answers ? "final" : "interrupted"));
    CHECK(f.model->requests.size() == (answers ? 2 : 1));
  }
}

TEST_CASE("G18: half of the places are left for runs whose callers wait") {
  fixture f;
  f.model->endless = [](std::size_t) { return silent(); };
  const auto start = [&](bool detach) {
    auto r = fixture::ask();
    r.detach = detach;
    const auto begun = f.runs->start(std::move(r));
    return begun ? std::string() : begun.error().message;
  };
  for (int i = 0; i < 512; ++i) REQUIRE(start(true) == "");
  CHECK(start(true) == "the limit of 512 detached runs is reached; wait for one to end, or cancel it");
  f.start(fixture::ask());
  CHECK(f.runs->active() == 513);
  f.settle();
  CHECK(f.runs->cancel("run_0000000000000001", "enough"));
  f.settle();
  CHECK(start(true) == "");
}

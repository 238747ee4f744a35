// Scenarios of tool loops that no other test covers. README.md lists all scenarios and their tests.
#include "test/daemon/loop/core/wire_history.hpp"
#include "test/daemon/loop/loop_fixture.hpp"

#include <doctest/doctest.h>

#include <string>
#include <vector>

using namespace mcpbx;
using namespace mcpbx::daemon::stored;
using namespace mcpbx::daemon::test;
using namespace mcpbx::json;
using namespace mcpbx::providers;

namespace {

scripted_client::behaviour gives(std::string_view text) {
  return [text = std::string(text)](const mcp::clients::server_call&) {
    return mcp::rpc::call_outcome{mcp::rpc::call_outcome::kind::result, text_result(text), {}};
  };
}
scripted_client::behaviour fails_with(std::string_view text) {
  return [text = std::string(text)](const mcp::clients::server_call&) {
    return mcp::rpc::call_outcome{mcp::rpc::call_outcome::kind::result, daemon::loop::words::error_result(text), {}};
  };
}

std::string roles(const std::vector<providers::message_ptr>& messages) {
  std::string all;
  for (const auto& m : messages) all += (all.empty() ? "" : " ") + std::string(providers::to_string(m->role));
  return all;
}

const providers::tool_result_block& last_result(const providers::model_request& r) {
  return std::get<providers::tool_result_block>(r.messages.back()->blocks.back());
}

}  // namespace

TEST_CASE("L1 L3: one question, two tools of two servers, the second asked for what the first told") {
  fixture f;
  const auto web = std::make_shared<scripted_client>(f.context, "web", f.note);
  auto search = std::make_shared<mcp::catalogs::catalog_entry>(*f.entry("search"));
  search->name = "web__search";
  search->server = "web";
  search->owner = web;
  f.tools.catalog = std::make_shared<mcp::catalogs::catalog>(
      std::vector<mcp::catalogs::entry_ptr>{f.entry("search_users"), std::move(search)}, 2);
  f.server->tools["search_users"] = gives(R"({"id":42,"company":"Acme Corp"})");
  web->tools["search"] = gives("Acme Corp makes anvils.");
  f.model->script = {says("Let me find him.", {call("a", "srv__search_users", R"({"name":"John Doe"})")}),
                     says("Now his company.", {call("b", "web__search", R"({"query":"Acme Corp"})")}),
                     says("John Doe works at Acme Corp, which makes anvils.")};
  f.run();
  CHECK(f.server->params == lines{R"({"name":"search_users","arguments":{"name":"John Doe"}})"});
  CHECK(web->params == lines{R"({"name":"search","arguments":{"query":"Acme Corp"}})"});
  CHECK(contains(last_result(f.model->requests.at(1)).result.text(), "Acme Corp"));
  CHECK(contains(last_result(f.model->requests.at(2)).result.text(), "anvils"));
  const auto core = fold(f.written(), f.written().size());
  CHECK(roles(core.facts().messages) == "system user assistant tool_results assistant tool_results assistant");
  CHECK(core.facts().messages.at(2)->text() == "Let me find him.");
  CHECK(f.caller_.member("text") == "John Doe works at Acme Corp, which makes anvils.");
  CHECK(f.caller_.member("rounds") == "3");
}

TEST_CASE("L2: with and without streaming a run is the same but for its text events") {
  std::vector<caller> both;
  for (const bool stream : {true, false}) {
    fixture f;
    f.model->script = {says("let me see", {lookup("a"), call("b", "srv__other")}), calls({lookup("c")}), says("done")};
    auto r = fixture::ask();
    r.stream = stream;
    f.run(std::move(r));
    caller seen;
    seen.events = f.caller_.events;
    seen.done = f.caller_.done;
    CHECK(f.caller_.of("text").size() == (stream ? 2 : 0));
    both.push_back(std::move(seen));
  }
  for (const char* member : {"text", "stopReason", "rounds", "toolCalls", "usage", "messages"})
    CHECK(both[0].member(member) == both[1].member(member));
  for (const char* type : {"round", "tool_call", "tool_result", "usage"}) CHECK(both[0].of(type) == both[1].of(type));
}

TEST_CASE("L3: what was said before the question stands before it in every round, as the very same messages") {
  fixture f;
  f.model->script = {calls({lookup("a")}), calls({lookup("b")}), says("done")};
  auto r = fixture::ask();
  r.messages = {providers::user_message("first question"), reply("first answer").message,
                providers::user_message("second question")};
  const auto brought = r.messages;
  f.run(std::move(r));
  REQUIRE(f.model->requests.size() == 3);
  for (const auto& request : f.model->requests) {
    REQUIRE(request.messages.size() >= 4);
    CHECK(std::equal(brought.begin(), brought.end(), request.messages.begin() + 1));
  }
  CHECK(roles(f.model->requests.back().messages) ==
        "system user assistant user assistant tool_results assistant tool_results");
}

TEST_CASE("L3: of a reply in several pieces every text is kept and only its calls are made") {
  fixture f;
  auto m = std::make_shared<providers::message>();
  m->role = providers::role::assistant;
  m->blocks = {providers::text_block{"First this, "}, lookup("a"), providers::text_block{"then that."},
               call("b", "srv__other")};
  step mixed;
  mixed.deltas = {"First this, ", "then that."};
  mixed.reply = reply("");
  mixed.reply->message = m;
  mixed.reply->reason = providers::end_reason::tool_calls;
  f.model->script = {mixed, says("done")};
  f.run();
  CHECK(f.server->params.size() == 2);
  const auto& kept = *f.model->requests.at(1).messages.at(2);
  CHECK(kept.blocks.size() == 4);
  CHECK(kept.text() == "First this, then that.");
  CHECK(contains(f.caller_.member("messages"), "First this, "));
}

TEST_CASE("L5: tools are offered in every round but the last call, for one round, two, three") {
  for (const int rounds : {1, 2, 3}) {
    CAPTURE(rounds);
    fixture f;
    f.model->endless = [&](std::size_t i) {
      return i < static_cast<std::size_t>(rounds) ? calls({lookup("c" + std::to_string(i))}) : says("what I know");
    };
    run_limits l;
    l.max_rounds = rounds;
    f.run(fixture::ask(l));
    REQUIRE(f.model->requests.size() == static_cast<std::size_t>(rounds) + 1);
    for (std::size_t i = 0; i < f.model->requests.size(); ++i)
      CHECK((f.model->requests[i].offered() != nullptr) == (i < static_cast<std::size_t>(rounds)));
    CHECK(f.caller_.member("text") == "what I know");
    CHECK(f.caller_.member("stopReason") == "max_rounds");
    CHECK(f.server->params.size() == static_cast<std::size_t>(rounds));
  }
}

TEST_CASE("L9: after a tool error the run goes on, or stops without another word to the model, as is configured") {
  for (const auto errors : {tool_error_policy::go_on, tool_error_policy::stop}) {
    fixture f;
    f.server->tools["lookup"] = fails_with("no such course");
    f.model->script = {calls({lookup("a")}), says("There is no such course.")};
    run_limits l;
    l.on_tool_error = errors;
    f.run(fixture::ask(l));
    const bool goes_on = errors == tool_error_policy::go_on;
    CHECK(f.model->requests.size() == (goes_on ? 2 : 1));
    CHECK(f.caller_.member("stopReason") == (goes_on ? "final" : "tool_error"));
    if (!goes_on) continue;
    CHECK(last_result(f.model->requests[1]).is_error);
    CHECK(contains(last_result(f.model->requests[1]).result.text(), "no such course"));
  }
}

TEST_CASE("L9 L15: when a tool fails the model takes another one, the status says so, and the count begins anew") {
  fixture f;
  f.server->tools["lookup"] = fails_with("the index is down");
  f.server->tools["other"] = gives("found it");
  f.model->script = {calls({lookup("a")}), calls({lookup("b")}), calls({call("c", "srv__other")}),
                     calls({lookup("d")}), calls({lookup("e")}), says("done")};
  auto r = fixture::ask();
  r.limits.status = status_mode::names;
  f.run(std::move(r));
  CHECK(f.caller_.member("stopReason") == "final");
  int failures = 0;
  for (const auto& line : f.caller_.of("status")) failures += contains(line, "Tool Lookup failed, trying alternative");
  CHECK(failures == 4);
  CHECK(f.server->params.size() == 5);
}

TEST_CASE("L14: a tool that found nothing says so in words, unless other words are configured") {
  for (const bool configured : {false, true}) {
    fixture f;
    f.server->tools["lookup"] = [](const mcp::clients::server_call&) {
      return mcp::rpc::call_outcome{mcp::rpc::call_outcome::kind::result, raw_json::literal(R"({"content":[]})"), {}};
    };
    f.model->script = {calls({lookup("a")}), says("nothing")};
    run_limits l;
    if (configured) l.empty_result_text = "leer";
    f.run(fixture::ask(l));
    CHECK(contains(last_result(f.model->requests.at(1)).result.text(),
                   configured ? "leer" : "No relevant content found"));
    CHECK_FALSE(last_result(f.model->requests.at(1)).is_error);
    CHECK(contains(f.caller_.of("tool_result").at(0), R"("content":[])"));  // the caller gets the tool's own result
  }
}

TEST_CASE("L1 L10: without any tool the model just answers, and one that calls a tool all the same is told") {
  fixture f;
  f.offer({});
  f.model->script = {calls({lookup("a")}), says("then from memory")};
  auto r = fixture::ask();
  r.limits.guidance.on = true;
  f.run(std::move(r));
  CHECK(f.model->requests.at(0).offered() == nullptr);
  CHECK(f.model->requests.at(0).messages.front()->text() == "be brief");
  CHECK(contains(last_result(f.model->requests.at(1)).result.text(), "No tools are available; answer without them."));
  CHECK(f.caller_.member("stopReason") == "final");
  CHECK(f.caller_.member("text") == "then from memory");
}

TEST_CASE("L1: a model that says that it cannot do it has answered") {
  fixture f;
  f.server->tools["lookup"] = fails_with("forbidden");
  f.model->script = {calls({lookup("a")}), says("I cannot complete this task: the index is forbidden to me.")};
  f.run();
  CHECK(f.caller_.member("stopReason") == "final");
  CHECK(f.caller_.member("reason") == "");
  CHECK(f.caller_.member("text") == "I cannot complete this task: the index is forbidden to me.");
}

TEST_CASE("L8: a run without a word about its time has two minutes") {
  fixture f;
  f.server->hold["lookup"] = true;
  f.model->script = {calls({lookup("a")})};
  f.run();
  f.time.advance(milliseconds(119'999));
  f.settle();
  CHECK(f.caller_.done.empty());
  f.time.advance(milliseconds(1));
  f.settle();
  CHECK(f.caller_.member("reason") == "Unable to complete task: the time limit of 120 s for the run was reached.");
}

TEST_CASE("L16 L17: what was said in all rounds is kept and told when the model breaks in a later one") {
  fixture f;
  providers::model_error e;
  e.message = "the model is gone";
  f.model->script = {says("first", {lookup("a")}), says("second", {lookup("b"), call("c", "srv__other")}), breaks(e)};
  f.run();
  CHECK(f.caller_.member("stopReason") == "provider_error");
  CHECK(f.caller_.member("rounds") == "3");
  for (const auto* id : {"\"a\"", "\"b\"", "\"c\""}) CHECK(contains(f.caller_.member("toolCalls"), id));
  const auto core = fold(f.written(), f.written().size());
  CHECK(roles(core.facts().messages) == "system user assistant tool_results assistant tool_results");
  CHECK(core.facts().usage.output == 10);
  CHECK(wire_fault_of(core.facts().messages) == "");
}

TEST_CASE("L20: a tool's progress is told while it runs, before its result and never after") {
  fixture f;
  f.server->hold["lookup"] = true;
  f.model->script = {calls({lookup("a")}), says("done")};
  f.run();
  REQUIRE(f.server->open.size() == 1);
  const auto progress = f.server->open.begin()->second.progress;
  progress(raw_json::literal(R"({"progressToken":1,"progress":1,"total":2})"));
  f.settle();
  CHECK(f.caller_.of("tool_progress") == lines{R"({"type":"tool_progress","call":"a","progress":1,"total":2})"});
  CHECK(f.caller_.of("tool_result").empty());
  f.server->release();
  f.settle();
  progress(raw_json::literal(R"({"progressToken":1,"progress":2,"total":2})"));
  f.settle();
  CHECK(f.caller_.of("tool_progress").size() == 1);
  CHECK(f.caller_.member("stopReason") == "final");
}

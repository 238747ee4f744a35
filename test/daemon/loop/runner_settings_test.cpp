// Settings of a request for all model calls of its run, and tool calls that it requires in the first round.
#include "providers/wire/registry/registry.hpp"
#include "test/daemon/loop/loop_fixture.hpp"

#include <doctest/doctest.h>

#include <memory>
#include <string>
#include <vector>

using namespace mcpbx;
using namespace mcpbx::daemon::run;
using namespace mcpbx::daemon::stored;
using namespace mcpbx::daemon::test;
using namespace mcpbx::daemon::tools;
using namespace mcpbx::json;
using mcpbx::providers::tool_mode;

namespace {

std::string body_for(std::string_view api, const providers::model_request& r) {
  providers::wire::wire_options o;
  o.model = "m";
  o.base_url = "https://api.example.com/v1";
  return providers::registry::find_codec(api)->encode(r, o).body.str();
}

std::vector<tool_mode> modes(const fixture& f) {
  std::vector<tool_mode> all;
  for (const auto& q : f.model->requests) all.push_back(q.tool_mode);
  return all;
}

run_request requiring(std::string tool = "", run_limits limits = {}) {
  auto r = fixture::ask(std::move(limits));
  r.first_round = tool_mode::required;
  r.first_round_tool = std::move(tool);
  return r;
}

}  // namespace

TEST_CASE(
    "D2: the settings of a request are those of every call of its run, and are recorded, but not of status lines") {
  fixture f;
  f.server->hold["lookup"] = true;
  f.model->script = {calls({lookup("a")}), says("what I know")};
  f.quick->script = {silent()};
  run_limits l;
  l.max_rounds = 1;
  auto r = fixture::ask(l);
  r.limits.status = status_mode::model;
  r.limits.status_model = "quick";
  r.settings.temperature = "0.3";
  r.settings.max_output_tokens = 70;
  r.settings.parallel_tool_calls = true;
  const auto settings = r.settings;
  f.run(std::move(r));
  f.server->release();
  f.settle();
  REQUIRE(f.model->requests.size() == 2);
  for (const auto& q : f.model->requests) CHECK(q.settings == settings);
  REQUIRE(f.quick->requests.size() == 1);
  CHECK(f.quick->requests[0].settings.temperature.empty());
  CHECK(std::get<record::run_started>(f.written().front()).settings == settings);
  CHECK(f.caller_.member("text") == "what I know");
}

TEST_CASE("D2: a call that is required binds the first round only") {
  fixture f;
  f.model->script = {calls({lookup("a")}), calls({lookup("b")}), says("done")};
  f.run(requiring());
  CHECK(modes(f) == std::vector{tool_mode::required, tool_mode::automatic, tool_mode::automatic});
  CHECK(f.model->requests[0].required_tool.empty());
  CHECK(f.caller_.member("stopReason") == "final");
}

TEST_CASE("D2: a first round that calls nothing although it has to is the answer") {
  fixture f;
  f.model->script = {says("I would rather not")};
  f.run(requiring());
  CHECK(f.caller_.member("stopReason") == "final");
  CHECK(f.caller_.member("text") == "I would rather not");
}

TEST_CASE("D2: a first round that is begun again with a shorter history has to call as before") {
  fixture f;
  auto asked = std::make_shared<providers::message>();
  asked->role = providers::role::assistant;
  asked->blocks.emplace_back(lookup("old"));
  auto long_result = std::make_shared<providers::message>();
  long_result->role = providers::role::tool_results;
  long_result->blocks.emplace_back(
      providers::tool_result_block{"old", "srv__lookup", text_result(std::string(4096, 'x')), false});
  providers::model_error full;
  full.type = providers::model_error::kind::context_full;
  f.model->script = {breaks(full), calls({lookup("a")}), says("done")};
  auto r = requiring("srv__lookup");
  r.messages = {providers::user_message("before"), asked, long_result, providers::user_message("go")};
  f.run(std::move(r));
  CHECK(modes(f) == std::vector{tool_mode::required, tool_mode::required, tool_mode::automatic});
  CHECK(f.model->requests[1].required_tool == "srv__lookup");
  CHECK(f.model->requests[2].required_tool.empty());
}

TEST_CASE("D2: the tool that has to be called is the run's, under the name that the model sees") {
  fixture f;
  // Adapts names for an API that takes no dots.
  const auto adapt = [](std::span<const mcp::catalogs::entry_ptr> entries, std::string_view api) {
    auto all = plain_adapter(entries, api);
    for (auto& tool : all)
      if (const auto dot = tool.definition.name.find('.'); dot != std::string::npos) tool.definition.name[dot] = '_';
    return all;
  };
  round_tools offers(adapt);
  f.offer({"a.b", "other"});
  const auto offered = offers.offer(f.tools.catalog, {}, "openai-chat");
  CHECK(offered->shown_as("srv__a.b") == "srv__a_b");
  CHECK(offered->shown_as("srv__other") == "srv__other");
  CHECK(offered->shown_as("srv__a_b").empty());

  f.model->script = {calls({call("a", "mine")})};
  auto own = requiring("mine");
  own.client_tools = {raw_json::own(R"({"name":"mine","inputSchema":{"type":"object"}})")};
  f.run(std::move(own));
  CHECK(f.model->requests[0].required_tool == "mine");
  f.caller_.done.clear();
  f.model->script = {says("done")};
  auto renamed = requiring("theirs");
  renamed.tools.rename = {{"srv__other", "theirs"}};
  f.run(std::move(renamed));
  CHECK(f.model->requests[1].required_tool == "theirs");
}

TEST_CASE("D2: where the tool that has to be called is not offered, or none is, nothing is required") {
  fixture f;
  f.model->script = {says("done")};
  f.run(requiring("gone"));
  CHECK(modes(f) == std::vector{tool_mode::automatic});
  CHECK(f.model->requests[0].offered());
  f.caller_.done.clear();
  f.offer({});
  f.model->script = {says("done")};
  f.run(requiring());
  CHECK(modes(f).back() == tool_mode::automatic);
  CHECK(f.caller_.member("text") == "done");
}

TEST_CASE(
    "L5: in the last call no tool may be called, Messages, which must define those of the history, still has them") {
  fixture f;
  f.model->script = {calls({lookup("a")}), says("what I know")};
  run_limits l;
  l.max_rounds = 1;
  f.run(fixture::ask(l));
  REQUIRE(f.model->requests.size() == 2);
  auto last = f.model->requests[1];
  CHECK(last.tool_mode == tool_mode::none);
  CHECK(last.tools == f.model->requests[0].tools);
  CHECK_FALSE(last.offered());
  const auto messages = body_for("anthropic", last);
  CHECK(contains(messages, R"("tool_choice":{"type":"none"},"tools":[{"name":"srv__lookup")"));
  CHECK_FALSE(contains(body_for("anthropic", f.model->requests[0]), "tool_choice"));
  // The requests to all other APIs are the same as without tools.
  for (const std::string api : {"openai-chat", "azure", "dial", "openai-responses", "gemini", "ollama"}) {
    CAPTURE(api);
    auto bare = last;
    bare.tools = nullptr;
    bare.tool_mode = tool_mode::automatic;
    CHECK(body_for(api, last) == body_for(api, bare));
  }
}

TEST_CASE("runner: a run that is under way keeps the configuration that it began with, and the next has the new one") {
  fixture f;
  f.server->hold["lookup"] = true;
  f.model->script = {calls({lookup("a")}), calls({lookup("b")}), says("by the old one")};
  f.run();
  REQUIRE(f.server->params.size() == 1);
  f.servers = {{"srv", {}, {}, {"*"}}};
  f.configured = f.configure();
  const auto other = std::make_shared<scripted_model>(f.context, f.note);
  f.configured->models = [&](std::string_view) { return result<std::shared_ptr<providers::model>>(other); };
  other->script = {calls({lookup("c")})};
  f.server->hold.clear();
  f.server->release();
  f.settle();
  CHECK(f.server->params.size() == 2);
  CHECK(f.model->requests.size() == 3);
  CHECK(f.caller_.member("text") == "by the old one");

  caller next;
  auto r = fixture::ask();
  r.run = "next";
  REQUIRE(f.runs->start(std::move(r), next));
  f.settle();
  CHECK(other->requests.size() == 1);
  CHECK(f.server->params.size() == 2);
  REQUIRE_FALSE(next.events.empty());
  CHECK(find_member(raw_json::own(next.events.back()), "type").as_string() == "question");
  CHECK(f.runs->cancel("next", ""));
  f.settle();
}

TEST_CASE("runner: a request that was read before the configuration was replaced starts its run under what it read") {
  fixture f;
  f.model->script = {says("by the old one")};
  auto r = fixture::ask();
  r.configured = f.configured;
  f.configured = f.configure();
  f.configured->models = [&f](std::string_view) { return result<std::shared_ptr<providers::model>>(f.quick); };
  f.run(std::move(r));
  CHECK(f.caller_.member("text") == "by the old one");
  CHECK(f.quick->requests.empty());
}

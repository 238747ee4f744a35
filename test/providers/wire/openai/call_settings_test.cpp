// Tests of a request's settings over those of the configuration, and of required calls.
#include "test/providers/wire/apis.hpp"

#include <doctest/doctest.h>

namespace call_settings_tests {

using namespace mcpbx;
using namespace mcpbx::json;
using namespace mcpbx::providers;
using namespace mcpbx::providers::wire;
using namespace mcpbx::test;

bool has(std::string_view text, std::string_view part) {
  return text.find(part) != std::string_view::npos;
}

// A configuration that says something of everything.
wire_options configured() {
  auto o = options();
  o.max_output_tokens = 5;
  o.temperature = "1";
  o.top_p = "0.1";
  o.parallel_tool_calls = true;
  return o;
}

model_request question() {
  model_request r;
  r.messages = {user_message("q")};
  r.tools = tools_of({{"now", "", {}}, {"add", "", {}}});
  return r;
}

model_request asking() {
  auto r = question();
  r.settings = {.temperature = "0.2",
                .top_p = "0.7",
                .max_output_tokens = 50,
                .stop = {"END"},
                .parallel_tool_calls = false,
                .reasoning_effort = "low"};
  return r;
}

// A conversation in which a tool was called.
model_request later() {
  auto r = question();
  r.messages.push_back(assistant_of("", {call_of("a", "now", "{}")}));
  r.messages.push_back(results_of({result_of("a", "now", R"({"content":[{"type":"text","text":"9:00"}]})")}));
  return r;
}

model_request requiring(std::string tool = "") {
  auto r = question();
  r.tool_mode = tool_mode::required;
  r.required_tool = std::move(tool);
  return r;
}

// Returns true if a request in which no tool may be called has the same bytes as one without tools.
bool leaves_tools_out(std::string_view api) {
  auto r = later();
  auto bare = later();
  bare.tools = nullptr;
  r.tool_mode = tool_mode::none;
  return body_as(api, r, configured()) == body_as(api, bare, configured());
}

TEST_CASE("openai-chat, request settings: they win over the configuration, and its own members of the body over them") {
  CHECK(body_as("openai-chat", asking(), configured())
            .starts_with(R"({"model":"m","stream":true,"stream_options":{"include_usage":true},"max_tokens":50,)"
                         R"("temperature":0.2,"top_p":0.7,"reasoning_effort":"low","stop":["END"],)"
                         R"("parallel_tool_calls":false,"messages":[)"));
  auto o = configured();
  o.max_tokens_field = "max_completion_tokens";
  o.body = raw_json::literal(R"({"temperature":null,"reasoning_effort":"high"})");
  const auto body = body_as("openai-chat", asking(), o);
  CHECK(has(body, R"("max_completion_tokens":50,"top_p":0.7,"reasoning_effort":"high")"));
  // Settings that a request leaves open come from the configuration; without tools nothing is said about calls.
  auto r = asking();
  r.settings = {};
  r.settings.temperature = "0";
  r.tools = nullptr;
  CHECK(body_as("openai-chat", r, configured())
            .starts_with(R"({"model":"m","stream":true,"stream_options":{"include_usage":true},"max_tokens":5,)"
                         R"("temperature":0,"top_p":0.1,"messages":[)"));
}

TEST_CASE("openai-chat, request settings: of stop sequences it gets the first four, and none where it refuses them") {
  auto r = question();
  r.settings.stop = {"1", "2", "3", "4", "5"};
  CHECK(has(body_as("openai-chat", r), R"("stop":["1","2","3","4"])"));
  auto o = options();
  o.stop_sequences = false;
  CHECK_FALSE(has(body_as("openai-chat", r, o), "\"stop\""));
}

TEST_CASE("azure, request settings: as openai-chat sends them") {
  CHECK(body_as("azure", asking(), configured()) == body_as("openai-chat", asking(), configured()));
}

TEST_CASE("dial, request settings: as openai-chat sends them") {
  CHECK(body_as("dial", asking(), configured()) == body_as("openai-chat", asking(), configured()));
}

TEST_CASE("openai-responses, request settings: they win over the configuration, stop sequences it has none") {
  CHECK(body_as("openai-responses", asking(), configured())
            .starts_with(R"({"model":"m","stream":true,"store":false,"include":["reasoning.encrypted_content"],)"
                         R"("max_output_tokens":50,"temperature":0.2,"top_p":0.7,"reasoning":{"effort":"low"},)"
                         R"("parallel_tool_calls":false,"tools":[)"));
  auto o = configured();
  o.body = raw_json::literal(R"({"reasoning":{"summary":"auto"}})");
  CHECK(has(body_as("openai-responses", asking(), o), R"("reasoning":{"effort":"low","summary":"auto"})"));
}

TEST_CASE("anthropic, request settings: they win over the configuration, sampling only for versions that know it") {
  auto r = asking();
  CHECK(body_as("anthropic", r, configured())
            .starts_with(R"({"model":"m","max_tokens":50,"stream":true,"stop_sequences":["END"],)"
                         R"("tool_choice":{"type":"auto","disable_parallel_tool_use":true},)"
                         R"("output_config":{"effort":"low"},"tools":[)"));
  auto o = configured();
  o.api_version = "2023-06-01";
  CHECK(has(body_as("anthropic", r, o), R"("stream":true,"temperature":0.2,"top_p":0.7,"stop_sequences":["END"])"));
  // The request allows what the configuration forbids.
  o.parallel_tool_calls = false;
  r.settings.parallel_tool_calls = true;
  CHECK_FALSE(has(body_as("anthropic", r, o), "disable_parallel_tool_use"));
  for (const auto* unknown : {"none", "minimal"}) {
    r.settings.reasoning_effort = unknown;
    CHECK_FALSE(has(body_as("anthropic", r, o), "effort"));
  }
  // The effort stands beside the schema of an answer.
  r.settings.reasoning_effort = "max";
  r.answer_schema =
      raw_json::literal(R"({"type":"object","properties":{},"required":[],"additionalProperties":false})");
  o.answer_schema = true;
  CHECK(has(body_as("anthropic", r, o), R"("output_config":{"effort":"max","format":{"type":"json_schema","schema":)"));
}

TEST_CASE("gemini, request settings: they win over the configuration, with a level of thinking where models know any") {
  auto r = asking();
  CHECK(body_as("gemini", r, configured())
            .starts_with(R"({"generationConfig":{"maxOutputTokens":50,"temperature":0.2,"topP":0.7,)"
                         R"("stopSequences":["END"],"thinkingConfig":{"thinkingLevel":"low"}},"tools":[)"));
  auto o = configured();
  o.model = "gemini-2.5-flash";
  CHECK_FALSE(has(body_as("gemini", r, o), "thinking"));
  // A level beside a budget would be refused.
  o.model = "gemini-3-pro";
  o.body = raw_json::literal(R"({"generationConfig":{"thinkingConfig":{"thinkingBudget":9}}})");
  CHECK(has(body_as("gemini", r, o), R"("thinkingConfig":{"thinkingBudget":9}})"));
  r.settings = {};
  r.settings.stop = {"1", "2", "3", "4", "5", "6"};
  r.settings.reasoning_effort = "xhigh";
  CHECK(body_as("gemini", r).starts_with(R"({"generationConfig":{"stopSequences":["1","2","3","4","5"]},"tools":[)"));
}

TEST_CASE(
    "ollama, request settings: they win over the configuration, levels of thinking are for models that have any") {
  auto r = asking();
  CHECK(body_as("ollama", r, configured())
            .starts_with(R"({"model":"m","stream":true,)"
                         R"("options":{"num_predict":50,"temperature":0.2,"top_p":0.7,"stop":["END"]},"think":true,)"
                         R"("tools":[)"));
  auto o = configured();
  o.model = "gpt-oss:20b";
  CHECK(has(body_as("ollama", r, o), R"("think":"low")"));
  r.settings.reasoning_effort = "none";
  CHECK(has(body_as("ollama", r, o), R"("think":false)"));
  r.settings.reasoning_effort = "xhigh";
  CHECK_FALSE(has(body_as("ollama", r, o), "think"));
}

TEST_CASE("openai-chat, tool choice: a call that is required, of any tool or of one, or none at all") {
  CHECK(body_as("openai-chat", requiring())
            .starts_with(R"({"model":"m","stream":true,"stream_options":{"include_usage":true},)"
                         R"("tool_choice":"required","messages":[)"));
  CHECK(has(body_as("openai-chat", requiring("add")),
            R"("tool_choice":{"type":"function","function":{"name":"add"}},"messages":[)"));
  CHECK(leaves_tools_out("openai-chat"));
  // Members of the configuration win, and without tools nothing can be required.
  auto o = options();
  o.body = raw_json::literal(R"({"tool_choice":"auto"})");
  CHECK(has(body_as("openai-chat", requiring(), o), R"("tool_choice":"auto")"));
  auto r = requiring();
  r.tools = nullptr;
  CHECK_FALSE(has(body_as("openai-chat", r), "tool_choice"));
}

TEST_CASE("azure, tool choice: as openai-chat sends it") {
  CHECK(body_as("azure", requiring("add")) == body_as("openai-chat", requiring("add")));
  CHECK(leaves_tools_out("azure"));
}

TEST_CASE("dial, tool choice: as openai-chat sends it") {
  CHECK(body_as("dial", requiring()) == body_as("openai-chat", requiring()));
  CHECK(leaves_tools_out("dial"));
}

TEST_CASE("openai-responses, tool choice: a call that is required, of any tool or of one, or none at all") {
  CHECK(body_as("openai-responses", requiring())
            .starts_with(R"({"model":"m","stream":true,"store":false,"include":["reasoning.encrypted_content"],)"
                         R"("tool_choice":"required","tools":[)"));
  CHECK(has(body_as("openai-responses", requiring("add")),
            R"("tool_choice":{"type":"function","name":"add"},"tools":[)"));
  CHECK(leaves_tools_out("openai-responses"));
}

TEST_CASE("anthropic, tool choice: a call that is required, of any tool or of one") {
  CHECK(body_as("anthropic", requiring())
            .starts_with(R"({"model":"m","max_tokens":16384,"stream":true,"tool_choice":{"type":"any"},"tools":[)"));
  auto r = requiring("add");
  CHECK(has(body_as("anthropic", r), R"("tool_choice":{"type":"tool","name":"add"},"tools":[)"));
  r.settings.parallel_tool_calls = false;
  CHECK(has(body_as("anthropic", r),
            R"("tool_choice":{"type":"tool","name":"add","disable_parallel_tool_use":true},"tools":[)"));
}

TEST_CASE("anthropic, tool choice: beside a fixed budget for thinking, where a choice is refused, words stand for it") {
  auto o = options();
  o.body = raw_json::literal(R"({"thinking":{"type":"enabled","budget_tokens":1024}})");
  auto r = requiring("add");
  auto body = body_as("anthropic", r, o);
  CHECK_FALSE(has(body, "tool_choice"));
  CHECK(has(body, R"({"type":"text","text":"Call the tool add now, and answer only when you have its result."}]}])"));
  r.settings.parallel_tool_calls = false;
  CHECK(has(body_as("anthropic", r, o), R"("tool_choice":{"type":"auto","disable_parallel_tool_use":true})"));
  o.body = raw_json::literal(R"({"thinking":{"type":"adaptive"}})");
  CHECK(has(body_as("anthropic", r, o), R"("tool_choice":{"type":"tool","name":"add",)"));
}

TEST_CASE(
    "anthropic, tool choice: where none may be called a history with calls keeps its tools, which it must define") {
  auto r = later();
  const auto before = body_as("anthropic", r);
  r.tool_mode = tool_mode::none;
  r.settings.parallel_tool_calls = false;  // says nothing where nothing is called
  const auto body = body_as("anthropic", r);
  const std::string_view choice = R"("tool_choice":{"type":"none"},)";
  CHECK(body.starts_with(R"({"model":"m","max_tokens":16384,"stream":true,"tool_choice":{"type":"none"},"tools":[{)"));
  // The bytes of the tools are those of the rounds before: what is cached of them stays good.
  CHECK(body.substr(body.find(choice) + choice.size()) == before.substr(before.find(R"("tools":)")));
  auto first = question();
  first.tool_mode = tool_mode::none;
  CHECK_FALSE(has(body_as("anthropic", first), "tool"));
}

TEST_CASE("gemini, tool choice: a call that is required, of any tool or of one, or none at all") {
  CHECK(body_as("gemini", requiring())
            .starts_with(R"({"toolConfig":{"functionCallingConfig":{"mode":"ANY"}},"tools":[)"));
  CHECK(body_as("gemini", requiring("add"))
            .starts_with(
                R"({"toolConfig":{"functionCallingConfig":{"mode":"ANY","allowedFunctionNames":["add"]}},"tools":[)"));
  CHECK(leaves_tools_out("gemini"));
}

TEST_CASE("ollama, tool choice: not told by a member but by a sentence at the end of this call") {
  CHECK(has(body_as("ollama", requiring()),
            R"("content":"q\n\nCall a tool now, and answer only when you have its result."}])"));
  auto r = requiring("add");
  r.note = "[Round 1]";
  CHECK(has(body_as("ollama", r),
            R"("content":"q\n\n[Round 1]\n\nCall the tool add now, and answer only when you have its result."}])"));
  CHECK_FALSE(has(body_as("ollama", r), "tool_choice"));
  // The message is as it was for the calls that follow.
  r.note.clear();
  r.tool_mode = tool_mode::automatic;
  CHECK(has(body_as("ollama", r), R"("content":"q"}])"));
  CHECK(leaves_tools_out("ollama"));
}

}  // namespace call_settings_tests

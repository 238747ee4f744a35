// Requests of the Messages API as run requests: everything that its clients send, and what is wrong by its place.
#include "daemon/front/messages/messages_request.hpp"

#include "test/daemon/front/dialect_defaults.hpp"

#include <doctest/doctest.h>

#include <string>
#include <variant>

using namespace mcpbx;
using namespace mcpbx::daemon::dialects;
using namespace mcpbx::daemon::messages;
using namespace mcpbx::daemon::stored;
using namespace mcpbx::json;

// A name of its own, since several sources of these tests are compiled as one.
namespace mcpbx::test::messages_requests {

std::expected<messages_request, request_fault> read(const std::string& members) {
  return read_messages_request(raw_json::own("{" + members + "}"), test::some_defaults());
}

messages_request good(const std::string& members) {
  auto r = read(members);
  REQUIRE_MESSAGE(r.has_value(), (r ? "" : r.error().message));
  return std::move(*r);
}

// With one question as its messages.
messages_request asked(const std::string& more) {
  return good(R"("model":"gpt","max_tokens":9,"messages":[{"role":"user","content":"hi"}])" + more);
}

// The status and the place of a fault, whose message begins with the place.
std::string wrong(const std::string& members) {
  const auto r = read(members);
  if (r) return "";
  CHECK_MESSAGE(r.error().message.starts_with(r.error().param + ": "), r.error().message);
  return std::to_string(r.error().status) + " " + r.error().param;
}

std::string wrong_with(const std::string& more) {
  return wrong(R"("model":"gpt","messages":[{"role":"user","content":"hi"}],)" + more);
}

std::string wrong_block(const std::string& block) {
  return wrong(R"("messages":[{"role":"user","content":[)" + block + "]}]");
}

const std::string call =
    R"({"role":"assistant","content":[{"type":"tool_use","id":"c","name":"mine","input":{"n":1}}]})";

TEST_CASE("D2: messages: system, roles and every kind of block become ours, in their order") {
  const auto r = good(R"("model":"gpt","max_tokens":7,"stream":true,"system":[{"type":"text","text":"be brief",
      "cache_control":{"type":"ephemeral"}}],"messages":[
    {"role":"user","content":[{"type":"text","text":"look"},
      {"type":"image","source":{"type":"base64","media_type":"image/png","data":"AAAA"}},
      {"type":"image","source":{"type":"url","url":"https://x.example/a.png"}},
      {"type":"document","title":"a.pdf","source":{"type":"base64","media_type":"application/pdf","data":"CCCC"}},
      {"type":"document","source":{"type":"text","media_type":"text/plain","data":"plain"}}]},
    {"role":"user","content":"and on"},
    {"role":"assistant","content":[{"type":"thinking","thinking":"hm","signature":"s"},{"type":"redacted_thinking",
      "data":"x"},{"type":"text","text":"so"},{"type":"tool_use","id":"c","name":"mine","input":{"n": 1}}]},
    {"role":"user","content":[{"type":"tool_result","tool_use_id":"c","is_error":true,"content":[
      {"type":"text","text":"one"},{"type":"image","source":{"type":"base64","media_type":"image/png","data":"BBBB"}}]},
      {"type":"text","text":"go on"}]}])");
  CHECK(r.stream);
  CHECK(r.run.model == "gpt");
  CHECK(r.run.settings.max_output_tokens == 7);
  CHECK(r.run.limits.approve == approval_mode::none);
  CHECK(r.run.limits.status == status_mode::off);
  const auto& m = r.run.messages;
  REQUIRE(m.size() == 5);
  CHECK(m[0]->role == providers::role::system);
  CHECK(m[0]->text() == "be brief");
  REQUIRE(m[1]->blocks.size() == 6);
  CHECK(std::get<providers::image_block>(m[1]->blocks[1]).mime == "image/png");
  CHECK(std::get<providers::image_block>(m[1]->blocks[2]).url == "https://x.example/a.png");
  CHECK(std::get<providers::file_block>(m[1]->blocks[3]).name == "a.pdf");
  CHECK(std::get<providers::text_block>(m[1]->blocks[5]).text == "and on");
  // Thinking is neither text of the answer nor sent to a model that did not sign it.
  REQUIRE(m[2]->blocks.size() == 2);
  CHECK(m[2]->text() == "so");
  CHECK(m[2]->calls()[0]->arguments.text() == R"({"n": 1})");
  const auto& result = std::get<providers::tool_result_block>(m[3]->blocks[0]);
  CHECK(result.is_error);
  CHECK(result.result.text() == R"({"content":[{"type":"text","text":"one"},)"
                                R"({"type":"image","data":"BBBB","mimeType":"image/png"}],"isError":true})");
  CHECK(m[4]->text() == "go on");
  CHECK(good(R"("system":"short","messages":[{"role":"user","content":"hi"}])").run.messages[0]->text() == "short");
}

TEST_CASE("D2: messages: settings, tools, the choice of them and thinking are taken") {
  auto r = asked(R"(,"temperature":0.2,"top_p":1,"top_k":5,"stop_sequences":["a","b"],"metadata":{"user_id":"u"},)"
                 R"("thinking":{"type":"enabled","budget_tokens":1024},"service_tier":"auto",)"
                 R"("output_config":{"effort":"low","format":{"type":"json_schema","schema":{"type":"object"}}},)"
                 R"("tools":[{"name":"mine","description":"d","input_schema":{"type":"object"},"strict":true},)"
                 R"({"type":"custom","name":"bare","input_schema":{}}],)"
                 R"("tool_choice":{"type":"tool","name":"mine","disable_parallel_tool_use":true})");
  CHECK(r.run.settings.temperature == "0.2");
  CHECK(r.run.settings.stop == std::vector<std::string>{"a", "b"});
  CHECK(r.run.settings.parallel_tool_calls == false);
  CHECK(r.run.settings.reasoning_effort == "low");
  CHECK(r.run.answer_schema.text() == R"({"type":"object"})");
  CHECK(r.shows_thinking);
  REQUIRE(r.run.client_tools.size() == 2);
  CHECK(r.run.client_tools[0].text() ==
        R"({"name":"mine","description":"d","inputSchema":{"type":"object"},"strict":true})");
  CHECK(r.run.first_round == providers::tool_mode::required);
  CHECK(r.run.first_round_tool == "mine");
  CHECK(r.named_tools == std::vector<std::string>{"mine"});
  CHECK(asked(R"(,"tool_choice":{"type":"any"})").run.first_round == providers::tool_mode::required);
  CHECK(asked(R"(,"tool_choice":{"type":"none"})").run.limits.max_rounds == 0);
  CHECK_FALSE(asked(R"(,"thinking":{"type":"disabled"})").shows_thinking);
  CHECK_FALSE(asked(R"(,"thinking":{"type":"adaptive","display":"omitted"})").shows_thinking);
  CHECK_FALSE(asked("").shows_thinking);
}

TEST_CASE("D2: messages: results go on with the run that waits for them, if the conversation is the same") {
  const std::string tools = R"(,"tools":[{"name":"mine","input_schema":{"type":"object"}}])";
  const std::string question = R"("model":"gpt","messages":[{"role":"user","content":"hi"})";
  const auto first = good(question + "]" + tools);
  CHECK(first.conversation != 0);
  const std::string back = "," + call + R"(,{"role":"user","content":[{"type":"tool_result","tool_use_id":"c"}]}])";
  const auto next = good(question + back + tools);
  CHECK(next.conversation_before == first.conversation);
  REQUIRE(next.results.size() == 1);
  CHECK(next.results[0].call_id == "c");
  CHECK(next.results[0].result.text() == R"({"content":[]})");
  // Words beside the results make another turn, which the waiting run does not know.
  CHECK(good(question + "," + call +
             R"(,{"role":"user","content":[{"type":"tool_result","tool_use_id":"c"},{"type":"text","text":"x"}]}])" +
             tools)
            .results.empty());
}

TEST_CASE("D2: messages: a fault names its place") {
  CHECK(wrong(R"("messages":[])") == "400 messages");
  CHECK(wrong(R"("model":"gpt")") == "400 messages");
  CHECK(wrong(R"("model":7)") == "400 model");
  CHECK(wrong(R"("model":"none","messages":[{"role":"user","content":"hi"}])") == "404 model");
  CHECK(wrong_with(R"("temperature":9)") == "400 temperature");
  CHECK(wrong_with(R"("max_tokens":0)") == "400 max_tokens");
  CHECK(wrong_with(R"("stop_sequences":"x")") == "400 stop_sequences");
  CHECK(wrong_with(R"("stop_sequences":[1])") == "400 stop_sequences[0]");
  CHECK(wrong_with(R"("stream":1)") == "400 stream");
  CHECK(wrong_with(R"("thinking":{"type":"deep"})") == "400 thinking.type");
  CHECK(wrong_with(R"("output_config":{"effort":"much"})") == "400 output_config.effort");
  CHECK(wrong_with(R"("output_config":{"format":{"type":"xml"}})") == "400 output_config.format.type");
  CHECK(wrong_with(R"("mcp_servers":[{"url":"https://x"}])") == "400 mcp_servers");
  CHECK(wrong_with(R"("tools":{})") == "400 tools");
  CHECK(wrong_with(R"("tools":[{"type":"web_search_20250305","name":"web_search"}])") == "400 tools[0].type");
  CHECK(wrong_with(R"("tools":[{"name":"a"}])") == "400 tools[0].input_schema");
  CHECK(wrong_with(R"("tools":[{"name":"a","input_schema":{}},{"name":"a","input_schema":{}}])") ==
        "400 tools[1].name");
  CHECK(wrong_with(R"("tool_choice":"auto")") == "400 tool_choice.type");
  CHECK(wrong_with(R"("tool_choice":{"type":"tool"})") == "400 tool_choice.name");
  CHECK(wrong_with(R"("system":[{"type":"image"}])") == "400 system[0].type");
  CHECK(wrong(R"("messages":[7])") == "400 messages[0]");
  CHECK(wrong(R"("messages":[{"role":"tool","content":"x"}])") == "400 messages[0].role");
  CHECK(wrong(R"("messages":[{"role":"user"}])") == "400 messages[0].content");
  CHECK(wrong_block(R"({"type":"video"})") == "400 messages[0].content[0].type");
  CHECK(wrong_block(R"({"type":"text","text":7})") == "400 messages[0].content[0].text");
  CHECK(wrong_block(R"({"type":"image","source":{"type":"file"}})") == "400 messages[0].content[0].source.type");
  CHECK(wrong_block(R"({"type":"image","source":{"type":"base64","media_type":"image/png","data":"*"}})") ==
        "400 messages[0].content[0].source.data");
  CHECK(wrong_block(R"({"type":"image","source":{"type":"url","url":"file:///etc"}})") ==
        "400 messages[0].content[0].source.url");
  CHECK(wrong_block(R"({"type":"tool_result","tool_use_id":"c"})") == "400 messages[0].content[0].tool_use_id");
  // A call without its result, a result behind words, a call twice.
  const std::string hi = R"("messages":[{"role":"user","content":"hi"},)" + call;
  CHECK(wrong(hi + "]") == "400 messages");
  CHECK(wrong(hi + R"(,{"role":"user","content":"x"}])") == "400 messages[2].content");
  CHECK(wrong(hi + R"(,{"role":"user","content":[{"type":"text","text":"x"}]}])") == "400 messages[2].content[0]");
  CHECK(wrong(hi + "," + call + "]") == "400 messages[2]");
  CHECK(read_messages_request(raw_json::literal("[]"), test::some_defaults()).error().param == "body");
}

}  // namespace mcpbx::test::messages_requests

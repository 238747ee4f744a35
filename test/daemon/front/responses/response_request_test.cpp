// Requests of the Responses API as run requests: everything that its clients send, and what is wrong by its place.
#include "daemon/front/responses/response_request.hpp"

#include "test/daemon/front/dialect_defaults.hpp"

#include <doctest/doctest.h>

#include <string>
#include <variant>

using namespace mcpbx;
using namespace mcpbx::daemon::dialects;
using namespace mcpbx::daemon::responses;
using namespace mcpbx::json;

// A name of its own, since several sources of these tests are compiled as one.
namespace mcpbx::test::response_requests {

std::expected<response_request, request_fault> read(const std::string& members) {
  return read_response_request(raw_json::own("{" + members + "}"), test::some_defaults(), [](std::string_view id) {
    return id == "fc_x_0"
               ? raw_json::literal(R"({"type":"function_call","call_id":"c","name":"mine","arguments":"{}"})")
               : raw_json();
  });
}

response_request good(const std::string& members) {
  auto r = read(members);
  REQUIRE_MESSAGE(r.has_value(), (r ? "" : r.error().message));
  return std::move(*r);
}

response_request asked(const std::string& more) {
  return good(R"("model":"gpt","input":"hi")" + more);
}

// The status and the place of a fault, whose message begins with the place.
std::string wrong(const std::string& members) {
  const auto r = read(members);
  if (r) return "";
  CHECK_MESSAGE(r.error().message.starts_with(r.error().param + ": "), r.error().message);
  return std::to_string(r.error().status) + " " + r.error().param;
}

std::string wrong_with(const std::string& more) {
  return wrong(R"("input":"hi",)" + more);
}

std::string wrong_item(const std::string& item) {
  return wrong(R"("input":[)" + item + "]");
}

const std::string call = R"({"type":"function_call","call_id":"c","name":"mine","arguments":"{\"n\": 1}"})";
const std::string output = R"({"type":"function_call_output","call_id":"c","output":"r"})";

TEST_CASE("D2: responses: a text, and every kind of item, become ours, in their order") {
  CHECK(asked("").run.messages[0]->text() == "hi");
  const auto r = good(R"("model":"gpt","instructions":"be brief","input":[
    {"role":"developer","content":"and kind"},
    {"role":"user","content":[{"type":"input_text","text":"look"},
      {"type":"input_image","image_url":"data:image/png;base64,AAAA","detail":"low"},
      {"type":"input_file","filename":"a.pdf","file_data":"data:application/pdf;base64,CCCC"}]},
    {"type":"reasoning","id":"rs_1","summary":[],"encrypted_content":"x"},
    {"type":"message","role":"assistant","id":"msg_1","status":"completed","content":[
      {"type":"output_text","text":"so","annotations":[]}]},)" +
                      call + "," +
                      R"({"type":"function_call_output","call_id":"c","output":[{"type":"input_text","text":"one"},
      {"type":"input_image","image_url":"data:image/png;base64,BBBB"}]},
    {"role":"user","content":"on"}])");
  const auto& m = r.run.messages;
  REQUIRE(m.size() == 6);
  CHECK(m[0]->text() == "be brief");
  CHECK(m[1]->role == providers::role::system);
  REQUIRE(m[2]->blocks.size() == 3);
  CHECK(std::get<providers::image_block>(m[2]->blocks[1]).detail == "low");
  CHECK(std::get<providers::file_block>(m[2]->blocks[2]).name == "a.pdf");
  CHECK(m[3]->role == providers::role::assistant);
  CHECK(m[3]->text() == "so");
  CHECK(m[3]->calls()[0]->arguments.text() == R"({"n": 1})");
  CHECK(std::get<providers::tool_result_block>(m[4]->blocks[0]).result.text() ==
        R"({"content":[{"type":"text","text":"one"},{"type":"image","data":"BBBB","mimeType":"image/png"}]})");
  CHECK(m[5]->text() == "on");
}

TEST_CASE("D2: responses: settings, tools, the choice of them and the format are taken, and repeated in the response") {
  const auto r = asked(
      R"(,"temperature":0.2,"top_p":1,"max_output_tokens":7,"parallel_tool_calls":false,"store":false,"include":["x"],)"
      R"("metadata":{"a":"b"},"truncation":"auto","reasoning":{"effort":"low","summary":"auto"},)"
      R"("text":{"format":{"type":"json_schema","name":"n","strict":true,"schema":{"type":"object"}},"verbosity":"low"},)"
      R"("tools":[{"type":"function","name":"mine","description":"d","parameters":{"type":"object"},"strict":true}],)"
      R"("tool_choice":{"type":"function","name":"mine"},"stream":true)");
  CHECK(r.stream);
  CHECK(r.run.settings.temperature == "0.2");
  CHECK(r.run.settings.max_output_tokens == 7);
  CHECK(r.run.settings.reasoning_effort == "low");
  CHECK(r.run.settings.parallel_tool_calls == false);
  CHECK(r.run.answer_schema.text() == R"({"type":"object"})");
  CHECK(r.shows_reasoning);
  CHECK(r.run.client_tools[0].text() ==
        R"({"name":"mine","description":"d","inputSchema":{"type":"object"},"strict":true})");
  CHECK(r.run.first_round_tool == "mine");
  const auto echo = raw_json::parse("{" + r.echo + "}");
  REQUIRE(echo.has_value());
  CHECK(find_member(*echo, "store").text() == "false");
  CHECK(find_member(*echo, "metadata").text() == R"({"a":"b"})");
  CHECK(find_member(*echo, "tool_choice").text() == R"({"type":"function","name":"mine"})");
  CHECK(asked(R"(,"tool_choice":"none")").run.limits.max_rounds == 0);
  CHECK(asked(R"(,"tool_choice":"required")").run.first_round == providers::tool_mode::required);
  CHECK(asked(R"(,"tool_choice":{"type":"allowed_tools","mode":"auto","tools":[{"type":"function","name":"a"}]})")
            .run.tools.only == std::vector<std::string>{"a"});
  CHECK_FALSE(asked(R"(,"reasoning":{"summary":null},"text":{"format":{"type":"text"}})").shows_reasoning);
}

TEST_CASE("D2: responses: outputs find the run that waits, by the conversation or by the response") {
  const std::string tools = R"(,"tools":[{"type":"function","name":"mine"}])";
  const auto first = good(R"("input":[{"role":"user","content":"hi"}])" + tools);
  for (const auto& back : {call, std::string(R"({"type":"item_reference","id":"fc_x_0"})")}) {
    const auto next = good(R"("input":[{"role":"user","content":"hi"},)" + back + "," + output + "]" + tools);
    CHECK(next.conversation_before == first.conversation);
    REQUIRE(next.results.size() == 1);
    CHECK(next.continues.empty());
  }
  const auto named = good(R"("previous_response_id":"resp_run_1-7","instructions":"x","input":[)" + output + "]");
  CHECK(named.continues == "run_1");
  REQUIRE(named.results.size() == 1);
  CHECK(named.results[0].result.text() == R"({"content":[{"type":"text","text":"r"}]})");
  const auto on = good(R"("previous_response_id":"resp_run_1","input":"and on")");
  CHECK(on.previous == "resp_run_1");
  CHECK(on.continues.empty());
}

TEST_CASE("D2: responses: a fault names its place") {
  CHECK(wrong(R"("model":"gpt")") == "400 input");
  CHECK(wrong(R"("input":[])") == "400 input");
  CHECK(wrong(R"("input":7)") == "400 input");
  CHECK(wrong(R"("input":[{"type":"reasoning"}])") == "400 input");
  CHECK(wrong(R"("input":"hi","model":"none")") == "404 model");
  CHECK(wrong_with(R"("temperature":9)") == "400 temperature");
  CHECK(wrong_with(R"("instructions":7)") == "400 instructions");
  CHECK(wrong_with(R"("conversation":"c")") == "400 conversation");
  CHECK(wrong_with(R"("prompt":{"id":"p"})") == "400 prompt");
  CHECK(wrong_with(R"("background":true)") == "400 background");
  CHECK(wrong_with(R"("store":"no")") == "400 store");
  CHECK(wrong_with(R"("previous_response_id":"chatcmpl-1")") == "400 previous_response_id");
  CHECK(wrong_with(R"("max_output_tokens":0)") == "400 max_output_tokens");
  CHECK(wrong_with(R"("reasoning":{"effort":"much"})") == "400 reasoning.effort");
  CHECK(wrong_with(R"("reasoning":"low")") == "400 reasoning");
  CHECK(wrong_with(R"("text":{"format":{"type":"json_schema"}})") == "400 text.format.schema");
  CHECK(wrong_with(R"("text":{"format":{}})") == "400 text.format.type");
  CHECK(wrong_with(R"("tools":[{"type":"web_search"}])") == "400 tools[0].type");
  CHECK(wrong_with(R"("tool_choice":"any")") == "400 tool_choice");
  CHECK(wrong_with(R"("tool_choice":{"type":"function"})") == "400 tool_choice.name");
  CHECK(wrong_item("7") == "400 input[0]");
  CHECK(wrong_item(R"({"type":"web_search_call"})") == "400 input[0].type");
  CHECK(wrong_item(R"({"role":"tool","content":"x"})") == "400 input[0].role");
  CHECK(wrong_item(R"({"role":"user"})") == "400 input[0].content");
  CHECK(wrong_item(R"({"role":"user","content":[{"type":"video"}]})") == "400 input[0].content[0].type");
  CHECK(wrong_item(R"({"role":"user","content":[{"type":"input_image","file_id":"f"}]})") == "400 input[0].content[0]");
  CHECK(wrong_item(R"({"type":"item_reference","id":"msg_old_1"})") == "400 input[0].id");
  // An item counts once, or a small request could ask for copies of a large one without an end.
  const std::string reference = R"({"type":"item_reference","id":"fc_x_0"})";
  CHECK(wrong_item(reference + "," + output + "," + reference) == "400 input[2].id");
  CHECK(wrong_item(output) == "400 input[0].call_id");
  CHECK(wrong_item(call) == "400 input");
  CHECK(wrong_item(call + R"(,{"role":"user","content":"x"})") == "400 input[1]");
  CHECK(wrong_item(call + "," + call) == "400 input[1].call_id");
  CHECK(wrong_item(R"({"type":"function_call","call_id":"c","name":"m","arguments":{}})") == "400 input[0].arguments");
  CHECK(wrong(R"("previous_response_id":"resp_run_1","input":[)" + output + R"(,{"role":"user","content":"x"}])") ==
        "400 input");
}

}  // namespace mcpbx::test::response_requests

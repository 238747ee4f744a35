// Requests of the Responses API: golden bytes, nothing stored there, items that go back as they came, results.
#include "providers/wire/registry/registry.hpp"
#include "test/providers/wire/apis.hpp"

#include <doctest/doctest.h>

namespace responses_encode_tests {

using namespace mcpbx;
using namespace mcpbx::json;
using namespace mcpbx::providers;
using namespace mcpbx::providers::registry;
using namespace mcpbx::providers::wire;
using namespace mcpbx::test;

const codec& responses() {
  return *find_codec("openai-responses");
}
std::string body(const model_request& r, const wire_options& o = options()) {
  auto text = responses().encode(r, o).body.str();
  CHECK(raw_json::parse(text).has_value());
  return text;
}
bool has(std::string_view text, std::string_view part) {
  return text.find(part) != std::string_view::npos;
}
constexpr std::string_view head =
    R"({"model":"m","stream":true,"store":false,"include":["reasoning.encrypted_content"])";

TEST_CASE("openai-responses, streaming: the golden request") {
  auto tools = std::make_shared<tool_set>();
  tools->tools.push_back(
      {"add", "Adds \"two\" numbers", raw_json::literal(R"({"type":"object","properties":{"a":{"type":"number"}}})")});
  tools->tools.push_back({"now", "", {}});
  model_request r;
  r.messages = {system_message("Be brief."), user_message("1 + 1?"),
                assistant_of("I add.", {call_of("a", "add", R"({"a": 1})")}),
                results_of({{"a", "add", raw_json::literal(R"({"content":[{"type":"text","text":"2"}]})"), false}})};
  r.tools = tools;
  r.settings.max_output_tokens = 100;
  CHECK(responses().encode(r, options()).url == "https://api.example.com/v1/responses");
  CHECK(
      body(r) ==
      std::string(head) +
          R"(,"max_output_tokens":100,"instructions":"Be brief.",)"
          R"("tools":[{"type":"function","name":"add","description":"Adds \"two\" numbers","parameters":{"type":"object","properties":{"a":{"type":"number"}}},"strict":false},)"
          R"({"type":"function","name":"now","parameters":{"type":"object","properties":{}},"strict":false}],)"
          R"("input":[{"type":"message","role":"user","content":"1 + 1?"},{"type":"message","role":"assistant","content":"I add."},)"
          R"({"type":"function_call","call_id":"a","name":"add","arguments":"{\"a\": 1}"},)"
          R"({"type":"function_call_output","call_id":"a","output":"2"}]})");
}

TEST_CASE("openai-responses: without tools nothing about tools is said, and options are sent") {
  model_request r;
  r.messages = {system_message("one"), user_message("x"), system_message("two")};
  r.tools = std::make_shared<tool_set>();
  auto o = options();
  o.max_output_tokens = 50;
  o.temperature = "0.5";
  o.top_p = "0.9";
  CHECK(body(r, o) == std::string(head) +
                          R"(,"max_output_tokens":50,"temperature":0.5,"top_p":0.9,"instructions":"one\n\ntwo",)"
                          R"("input":[{"type":"message","role":"user","content":"x"}]})");
}

TEST_CASE("openai-responses: fewer tokens than its API takes are the fewest that it takes") {
  model_request r;
  r.messages = {user_message("x")};
  for (const auto& [asked, sent] :
       std::vector<std::pair<int, std::string_view>>{{1, "16"}, {15, "16"}, {16, "16"}, {17, "17"}}) {
    r.settings.max_output_tokens = asked;
    CHECK(body(r).find(",\"max_output_tokens\":" + std::string(sent) + ",") != std::string::npos);
  }
}

TEST_CASE("openai-responses, caching: a further round has the prefix of the one before byte for byte") {
  model_request r;
  auto tools = std::make_shared<tool_set>();
  tools->tools.push_back({"add", "d", {}});
  r.tools = tools;
  r.messages = {system_message("s"), user_message("q")};
  auto before = responses().encode(r, options());
  for (int round = 1; round <= 4; ++round) {
    const auto id = "c" + std::to_string(round);
    r.messages.push_back(assistant_of("I look.", {call_of(id, "add", "{}")}));
    r.messages.push_back(results_of({{id, "add", raw_json::literal("{}"), false}}));
    r.note = round % 2 == 0 ? "round " + std::to_string(round) : "";
    const auto now = responses().encode(r, options());
    auto prefix = before.body.str();
    const auto note = prefix.find(R"(,{"type":"message","role":"user","content":"round )");
    prefix.resize(note != std::string::npos ? note : prefix.size() - 2);
    CHECK(now.body.str().starts_with(prefix));
    // Not only equal: the same bytes, encoded once.
    CHECK(now.body.pieces()[1].text().data() == before.body.pieces()[1].text().data());
    CHECK(now.body.pieces()[3].text().data() == before.body.pieces()[3].text().data());
    before = now;
  }
}

TEST_CASE("openai-responses, reasoning echo: the origin gets every item byte for byte, everybody else no thoughts") {
  const std::string_view items =
      R"({"type":"reasoning","id":"rs_1","summary":[],"encrypted_content":"secret\/=="},)"
      R"({"type":"message","id":"msg_1","role":"assistant","phase":"commentary","content":[{"type":"output_text","text":"hi"}]})";
  const auto raw = "[" + std::string(items) + "]";
  const auto m = assistant_of("hi", {}, {"openai-responses", "https://api.example.com/v1", "m"}, raw);
  model_request r;
  r.messages = {user_message("q"), m, user_message("q2")};
  CHECK(has(body(r),
            R"("content":"q"},)" + std::string(items) + R"(,{"type":"message","role":"user","content":"q2"}]})"));
  for (auto change : {0, 1}) {
    auto o = options();
    (change == 0 ? o.model : o.base_url) += "x";
    const auto other = body(r, o);
    CHECK_FALSE(has(other, "secret"));
    CHECK(has(other, R"({"type":"message","role":"assistant","content":"hi"})"));
  }
}

TEST_CASE("openai-responses: call ids that are too long are replaced in call and result alike") {
  const std::string id(80, 'x');
  model_request r;
  r.messages = {user_message("q"), assistant_of("", {call_of(id, "add", "{}")}),
                results_of({{id, "add", raw_json::literal(R"({"content":[]})"), false}})};
  const auto b = body(r);
  CHECK_FALSE(has(b, id));
  const auto at = b.find(R"("call_id":")") + 11;
  const auto made = b.substr(at, b.find('"', at) - at);
  CHECK(has(b, R"({"type":"function_call_output","call_id":")" + made + R"(","output":""})"));
}

TEST_CASE("L6: openai-responses: a note is an item of its own behind the last message") {
  model_request r;
  r.messages = {user_message("q")};
  r.note = "round 1";
  CHECK(body(r).ends_with(R"("content":"q"},{"type":"message","role":"user","content":"round 1"}]})"));
  r.messages.push_back(assistant_of("said", {}));
  CHECK_FALSE(has(body(r), "round 1"));
}

TEST_CASE("openai-responses, images in results: text alone is a string, media make it a list, errors say so (F9)") {
  model_request r;
  r.messages = {results_of(
      {{"a", "shot",
        raw_json::literal(
            R"({"content":[{"type":"text","text":"see"},{"type":"image","mimeType":"image/png","data":"QQ=="},)"
            R"({"type":"resource","resource":{"uri":"file:///d/a.pdf","mimeType":"application/pdf","blob":"QUJD"}},)"
            R"({"type":"audio","mimeType":"audio/wav","data":"QUI="}]})"),
        false},
       {"b", "shot", raw_json::literal(R"({"content":[{"type":"text","text":"no"}],"isError":true})"), true},
       {"c", "shot", raw_json::literal(R"({"content":[],"structuredContent":{"n":1}})"), false}})};
  CHECK(has(body(r), R"({"type":"function_call_output","call_id":"a","output":[{"type":"input_text","text":"see"},)"
                     R"({"type":"input_image","detail":"auto","image_url":"data:image/png;base64,QQ=="},)"
                     R"({"type":"input_text","text":"[resource file:///d/a.pdf, application/pdf]"},)"
                     R"({"type":"input_file","filename":"a.pdf","file_data":"data:application/pdf;base64,QUJD"},)"
                     R"({"type":"input_text","text":"[audio, audio/wav, 2 bytes: left out]"}]},)"
                     R"({"type":"function_call_output","call_id":"b","output":"Error: no"},)"
                     R"({"type":"function_call_output","call_id":"c","output":"{\"n\":1}"}]})"));
}

TEST_CASE("openai-responses, images in: images and files of a caller are parts, what cannot be sent is said") {
  auto m = std::make_shared<message>();
  m->blocks.emplace_back(text_block{"see"});
  m->blocks.emplace_back(image_block{"image/png", "QQ==", ""});
  m->blocks.emplace_back(image_block{"", "", "https://x/y.png", "low"});
  m->blocks.emplace_back(image_block{"image/tiff", "QQ==", ""});
  m->blocks.emplace_back(file_block{"application/pdf", "", "QQ==", ""});
  m->blocks.emplace_back(file_block{"", "", "", "https://x/b.pdf"});
  m->blocks.emplace_back(file_block{"audio/wav", "a.wav", "QQ==", ""});
  model_request r;
  r.messages = {m};
  CHECK(has(body(r), R"({"type":"message","role":"user","content":[{"type":"input_text","text":"see"},)"
                     R"({"type":"input_image","detail":"auto","image_url":"data:image/png;base64,QQ=="},)"
                     R"({"type":"input_image","detail":"low","image_url":"https://x/y.png"},)"
                     R"({"type":"input_text","text":"[image, image/tiff, 1 bytes: left out]"},)"
                     R"({"type":"input_file","filename":"file.pdf","file_data":"data:application/pdf;base64,QQ=="},)"
                     R"({"type":"input_file","file_url":"https://x/b.pdf"},)"
                     R"({"type":"input_text","text":"[file a.wav, audio/wav, 1 bytes: left out]"}]})"));
}

TEST_CASE("openai-responses, structured output: the schema of the answer goes where the endpoint takes one") {
  model_request r;
  r.messages = {user_message("q")};
  r.answer_schema = raw_json::literal(R"({"type": "array"})");
  CHECK_FALSE(has(body(r), "format"));
  auto o = options();
  o.answer_schema = true;
  CHECK(has(body(r, o),
            R"("text":{"format":{"type":"json_schema","name":"answer","strict":false,"schema":{"type": "array"}}})"));
}

TEST_CASE("openai-responses: switches for parallel calls and strict tools, and members that the configuration adds") {
  auto o = options();
  o.parallel_tool_calls = false;
  o.strict = true;
  o.answer_schema = true;
  o.body = raw_json::literal(R"({"reasoning":{"effort":"low"},"store":true,"text":{"verbosity":"low"},"input":[]})");
  model_request r;
  r.messages = {user_message("q")};
  const std::string_view strict = R"({"type":"object","properties":{},"required":[],"additionalProperties":false})";
  r.answer_schema = raw_json::literal(strict);
  auto tools = std::make_shared<tool_set>();
  tools->tools.push_back({"fits", "", raw_json::literal(strict)});
  tools->tools.push_back({"now", "", {}});
  r.tools = tools;
  const auto b = body(r, o);
  CHECK(has(b, R"("store":false,)"));
  CHECK(has(b, R"("parallel_tool_calls":false,)"));
  CHECK(has(b, R"("strict":true,"schema":)" + std::string(strict) + R"(},"verbosity":"low"})"));
  CHECK(has(b, R"("reasoning":{"effort":"low"})"));
  CHECK(has(b, R"({"type":"function","name":"fits","parameters":)" + std::string(strict) + R"(,"strict":true})"));
  CHECK(has(b, R"({"type":"function","name":"now","parameters":{"type":"object","properties":{}},"strict":false})"));
}

TEST_CASE("openai-responses: text behind a call stays behind it, from the API itself and from others") {
  const auto then = R"(,{"type":"function_call_output","call_id":"a","output":"2"}]})";
  const auto results =
      results_of({{"a", "add", raw_json::literal(R"({"content":[{"type":"text","text":"2"}]})"), false}});
  auto m = std::make_shared<message>(*assistant_of("before", {call_of("a", "add", "{}")}));
  m->blocks.emplace_back(text_block{"behind"});
  model_request r;
  r.messages = {user_message("q"), m, results};
  CHECK(has(body(r), std::string(R"("content":"q"},{"type":"message","role":"assistant","content":"before"},)"
                                 R"({"type":"function_call","call_id":"a","name":"add","arguments":"{}"},)"
                                 R"({"type":"message","role":"assistant","content":"behind"})") +
                         then));
  // The API's own items go back as they came, as it asks for.
  const std::string items =
      R"({"type":"message","id":"msg_1","role":"assistant","phase":"commentary","content":[{"type":"output_text","text":"before"}]},)"
      R"({"type":"function_call","id":"fc_1","call_id":"a","name":"add","arguments":"{}","status":"completed"},)"
      R"({"type":"message","id":"msg_2","role":"assistant","content":[{"type":"output_text","text":"behind"}]})";
  auto own = std::make_shared<message>(*m);
  own->origin = {"openai-responses", options().base_url, "m"};
  own->raw = raw_json::own("[" + items + "]");
  r.messages[1] = own;
  CHECK(has(body(r), R"("content":"q"},)" + items + then));
}

TEST_CASE("openai-responses, stop sequences: not sent, the API has none, but enforced on our side") {
  model_request r;
  r.messages = {user_message("q")};
  r.settings.stop = {"END"};
  CHECK_FALSE(has(body(r), "stop"));
}

}  // namespace responses_encode_tests

// Azure OpenAI and EPAM DIAL: the chat API at the address of a deployment. What they send and read is what chat
// completions do; that is held feature by feature.
#include "test/providers/wire/apis.hpp"

namespace deployments_tests {

using namespace mcpbx;
using namespace mcpbx::test;
using namespace mcpbx::providers;

// A conversation with everything that these APIs carry.
model_request everything() {
  auto shown = std::make_shared<message>();
  shown->blocks.emplace_back(text_block{"See:"});
  shown->blocks.emplace_back(image_block{"image/png", "QQ==", ""});
  model_request r;
  r.messages = {
      system_message("s"), shown, assistant_of("", {call_of("a", "x", "{}"), call_of("b", "y", "{}")}),
      results_of({result_of("a", "x", R"({"content":[{"type":"image","mimeType":"image/png","data":"QQ=="}]})"),
                  result_of("b", "y", R"({"content":[{"type":"text","text":"t"}]})")})};
  r.tools = tools_of({{"x", "", {}}, {"y", "", {}}});
  r.answer_schema = raw_json::literal(R"({"type":"object"})");
  r.settings.stop = {"END"};
  return r;
}

// Whether this API sends `part` just as openai-chat does.
bool sends(std::string_view api, std::string_view part) {
  auto o = options();
  o.answer_schema = true;
  const auto body = body_as(api, everything(), o);
  return body == body_as("openai-chat", everything(), o) && body.find(part) != std::string::npos;
}

// Whether a transcript is told as openai-chat tells it, at every split.
bool reads(std::string_view api, const std::string& transcript) {
  return told(decode_as(api, transcript)) == told(decode_as("openai-chat", transcript)) &&
         differing_split(api, transcript).empty();
}

const std::string two_calls = stream(
    {calls(
         R"([{"index":0,"id":"a","function":{"name":"x","arguments":"{\"p\":"}},{"index":1,"id":"b","function":{"name":"y"}}])"),
     calls(R"([{"index":0,"function":{"arguments":"1}"}}])"), finish("tool_calls")});

TEST_CASE("azure, streaming: text is told as it comes") {
  CHECK(reads("azure", stream({delta(R"({"content":"Hello"})"), delta(R"({"content":" you"})"), finish("stop")})));
}

TEST_CASE("azure, parallel calls: several calls of one reply are read and sent back") {
  CHECK(reads("azure", two_calls));
  CHECK(sends("azure", R"({"id":"b","type":"function","function":{"name":"y","arguments":"{}"}}])"));
}

TEST_CASE("azure, images in: images are parts of the user message") {
  CHECK(sends(
      "azure",
      R"([{"type":"text","text":"See:"},{"type":"image_url","image_url":{"url":"data:image/png;base64,QQ=="}}])"));
}

TEST_CASE("azure, images in results: in one user message after all tool messages") {
  CHECK(sends(
      "azure",
      R"("content":"t"},{"role":"user","content":[{"type":"text","text":"Images of the tool results above: 1 from x"})"));
}

TEST_CASE("azure, reasoning echo: what a deployment's model thought goes back to it only") {
  const auto d = decode_as(
      "azure", stream({delta(R"({"reasoning_content":"hm"})"), delta(R"({"content":"ok"})"), finish("stop")}));
  model_request r;
  r.messages = {user_message("q"), d.reply->message};
  CHECK(body_as("azure", r).find(R"("reasoning_content":"hm")") != std::string::npos);
  CHECK(body_as("dial", r).find("hm") == std::string::npos);
}

TEST_CASE("azure, structured output: the schema of the answer is sent where the endpoint takes it") {
  CHECK(sends("azure", R"("json_schema":{"name":"answer","schema":{"type":"object"}})"));
}

TEST_CASE("azure, caching: the next request begins with the very bytes of the one before") {
  auto r = everything();
  const auto tail = std::string_view(R"(],"tools":[)");
  const auto first = body_as("azure", r);
  r.messages.push_back(user_message("more"));
  CHECK(body_as("azure", r).starts_with(first.substr(0, first.find(tail))));
}

TEST_CASE("azure, stop sequences: they are sent") {
  CHECK(sends("azure", R"("stop":["END"])"));
}

TEST_CASE("azure, errors: a reply without its end and an error in the stream are errors, a status is explained") {
  CHECK(reads("azure", stream({delta(R"({"content":"half"})")}, false)));
  CHECK(reads("azure", stream({delta(R"({"content":"half"})"), R"({"error":{"message":"boom","code":429}})"})));
  const auto e = find_codec("azure")->decode_error(401, R"({"error":{"message":"Access denied"}})", options());
  CHECK(e.message.find("Access denied. Check the key") != std::string::npos);
}

TEST_CASE("dial, streaming: text is told as it comes") {
  CHECK(reads("dial", stream({delta(R"({"content":"Hello"})"), delta(R"({"content":" you"})"), finish("stop")})));
}

TEST_CASE("dial, parallel calls: several calls of one reply are read and sent back") {
  CHECK(reads("dial", two_calls));
  CHECK(sends("dial", R"({"id":"b","type":"function","function":{"name":"y","arguments":"{}"}}])"));
}

TEST_CASE("dial, images in: images are parts of the user message") {
  CHECK(sends(
      "dial",
      R"([{"type":"text","text":"See:"},{"type":"image_url","image_url":{"url":"data:image/png;base64,QQ=="}}])"));
}

TEST_CASE("dial, images in results: in one user message after all tool messages") {
  CHECK(sends(
      "dial",
      R"("content":"t"},{"role":"user","content":[{"type":"text","text":"Images of the tool results above: 1 from x"})"));
}

TEST_CASE("dial, structured output: the schema of the answer is sent where the endpoint takes it") {
  CHECK(sends("dial", R"("json_schema":{"name":"answer","schema":{"type":"object"}})"));
}

TEST_CASE("dial, caching: the next request begins with the very bytes of the one before") {
  auto r = everything();
  const auto tail = std::string_view(R"(],"tools":[)");
  const auto first = body_as("dial", r);
  r.messages.push_back(user_message("more"));
  CHECK(body_as("dial", r).starts_with(first.substr(0, first.find(tail))));
}

TEST_CASE("dial, stop sequences: they are sent") {
  CHECK(sends("dial", R"("stop":["END"])"));
}

TEST_CASE("dial, errors: a reply without its end and an error in the stream are errors, a status is explained") {
  CHECK(reads("dial", stream({delta(R"({"content":"half"})")}, false)));
  CHECK(reads("dial", stream({delta(R"({"content":"half"})"), R"({"error":{"message":"boom","code":429}})"})));
  const auto e = find_codec("dial")->decode_error(401, R"({"error":{"message":"Access denied"}})", options());
  CHECK(e.message.find("Access denied. Check the key") != std::string::npos);
}

}  // namespace deployments_tests

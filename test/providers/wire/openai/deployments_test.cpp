// Tests of Azure OpenAI and EPAM DIAL: the chat API at the address of a deployment. They send and read the same as chat
// completions, which is compared feature by feature.
#include "providers/wire/registry/registry.hpp"
#include "test/providers/wire/apis.hpp"

namespace deployments_tests {

using namespace mcpbx;
using namespace mcpbx::json;
using namespace mcpbx::providers;
using namespace mcpbx::providers::registry;
using namespace mcpbx::test;

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

// Returns true if this API sends `part` just as openai-chat does.
bool sends(std::string_view api, std::string_view part) {
  auto o = options();
  o.answer_schema = true;
  const auto body = body_as(api, everything(), o);
  return body == body_as("openai-chat", everything(), o) && body.find(part) != std::string::npos;
}

// Decodes a transcript and checks that openai-chat gives the same at every split.
decoded read(std::string_view api, const std::string& transcript) {
  auto d = decode_as(api, transcript);
  CHECK(told(d) == told(decode_as("openai-chat", transcript)));
  check_splits(api, transcript);
  return d;
}

void check_streaming(std::string_view api) {
  const auto d = read(api, stream({delta(R"({"content":"Hello"})"), delta(R"({"content":" you"})"), finish("stop"),
                                   R"({"choices":[],"usage":{"prompt_tokens":5,"completion_tokens":2}})"}));
  REQUIRE(d.reply);
  CHECK(d.texts == std::vector<std::string>{"Hello", " you"});
  CHECK(d.reply->reason == end_reason::stop);
  CHECK(d.reply->usage.input == 5);
  CHECK(d.reply->usage.output == 2);
  CHECK(d.reply->message->origin.api == api);
}

void check_parallel_calls(std::string_view api) {
  const auto d = read(
      api,
      stream(
          {calls(
               R"([{"index":0,"id":"a","function":{"name":"x","arguments":"{\"p\":"}},{"index":1,"id":"b","function":{"name":"y"}}])"),
           calls(R"([{"index":0,"function":{"arguments":"1}"}}])"), finish("tool_calls")}));
  REQUIRE(d.calls() == 2);
  CHECK(d.reply->reason == end_reason::tool_calls);
  CHECK(d.call(0).arguments.text() == R"({"p":1})");
  CHECK(d.call(1).arguments.text() == "{}");
  model_request r;
  r.messages = {user_message("q"), d.reply->message,
                results_of({result_of("a", "x", R"({"content":[{"type":"text","text":"1"}]})"),
                            result_of("b", "y", R"({"content":[{"type":"text","text":"2"}]})")})};
  CHECK(body_as(api, r).find(
            R"("tool_calls":[{"id":"a","type":"function","function":{"name":"x","arguments":"{\"p\":1}"}},)"
            R"({"id":"b","type":"function","function":{"name":"y","arguments":"{}"}}]},)"
            R"({"role":"tool","tool_call_id":"a","content":"1"},{"role":"tool","tool_call_id":"b","content":"2"}])") !=
        std::string::npos);
  CHECK(sends(api, R"({"id":"b","type":"function","function":{"name":"y","arguments":"{}"}}])"));
}

void check_images_in_results(std::string_view api) {
  CHECK(sends(api, R"({"role":"tool","tool_call_id":"a","content":"[image 1, image/png: shown below]"},)"
                   R"({"role":"tool","tool_call_id":"b","content":"t"},)"
                   R"({"role":"user","content":[{"type":"text","text":"Images of the tool results above: 1 from x"},)"
                   R"({"type":"image_url","image_url":{"url":"data:image/png;base64,QQ=="}}]}])"));
}

// Checks that reasoning goes back to its model with the calls that followed it, and to no other.
void check_reasoning_echo(std::string_view api) {
  const auto d = read(
      api, stream({delta(R"({"reasoning_content":"h"})"), delta(R"({"reasoning_content":"m"})"),
                   calls(R"([{"index":0,"id":"a","function":{"name":"x","arguments":"{}"}}])"), finish("tool_calls")}));
  CHECK(d.thoughts == std::vector<std::string>{"h", "m"});
  model_request r;
  r.messages = {user_message("q"), d.reply->message, results_of({result_of("a", "x", "{}")})};
  CHECK(body_as(api, r).find(std::string(d.reply->message->raw.text())) != std::string::npos);
  CHECK(d.reply->message->raw.text().find(R"("reasoning_content":"hm")") != std::string_view::npos);
  auto other = options();
  other.model = "another";
  CHECK(body_as(api, r, other).find("hm") == std::string::npos);
  CHECK(body_as("openai-chat", r).find("hm") == std::string::npos);
}

void check_structured_output(std::string_view api, bool takes_one) {
  const std::string_view asked =
      R"("response_format":{"type":"json_schema","json_schema":{"name":"answer","schema":{"type":"object"}}})";
  CHECK(sends(api, asked));
  auto o = options();
  apply_dialect(api, o);
  CHECK((body_as(api, everything(), o).find(asked) != std::string::npos) == takes_one);
}

void check_caching(std::string_view api) {
  check_prefix(
      api, options(),
      R"(],"tools":[{"type":"function","function":{"name":"add","description":"d","parameters":{"type":"object","properties":{}}}}]})");
}

void check_errors(std::string_view api) {
  struct row {
    std::string transcript;
    model_error::kind type;
    std::string_view says;
  };
  const auto half = delta(R"({"content":"half"})");
  for (const auto& r : std::vector<row>{
           {stream({half}, false), model_error::kind::cut, "cut off"},
           {stream({half}), model_error::kind::cut, "without a finish reason"},
           {stream({half, R"({"error":{"message":"boom","code":429}})"}), model_error::kind::overloaded, "boom"},
           {stream({half, R"({"error":{"message":"boom"}})"}), model_error::kind::refused, "boom"},
           {stream({half, "no JSON"}), model_error::kind::garbage, "not JSON"}}) {
    CAPTURE(r.transcript);
    const auto d = read(api, r.transcript);
    REQUIRE(d.error);
    CHECK(d.error->type == r.type);
    CHECK(d.error->partial_text == "half");
    CHECK_MESSAGE(d.error->message.find(r.says) != std::string::npos, d.error->message);
    CHECK(d.error->message.find("model \"m\" at api.example.com") != std::string::npos);
  }
  const auto status = [&](int s, std::string_view body) { return find_codec(api)->decode_error(s, body, options()); };
  CHECK(status(401, R"({"error":{"message":"Access denied"}})").message.find("Access denied. Check the key") !=
        std::string::npos);
  CHECK(status(404, R"({"error":{"code":"DeploymentNotFound","message":"No such deployment."}})")
            .message.find("No such deployment. Check the model's name and the base address") != std::string::npos);
  CHECK(status(429, R"({"error":{"code":"429","message":"Requests exceeded the rate limit."}})").type ==
        model_error::kind::overloaded);
  CHECK(status(503, "").retryable);
  CHECK(status(400, R"({"error":{"message":"x","code":"context_length_exceeded"}})").type ==
        model_error::kind::context_full);
}

TEST_CASE("azure, streaming: text is told as it comes, with what it cost") {
  check_streaming("azure");
}

TEST_CASE("azure, parallel calls: several calls of one reply are read and sent back with their results") {
  check_parallel_calls("azure");
}

TEST_CASE("azure, images in: images are parts of the user message") {
  CHECK(sends(
      "azure",
      R"([{"type":"text","text":"See:"},{"type":"image_url","image_url":{"url":"data:image/png;base64,QQ=="}}])"));
}

TEST_CASE("azure, images in results: in one user message after all tool messages") {
  check_images_in_results("azure");
}

TEST_CASE("azure, reasoning echo: what a deployment's model thought goes back to it only") {
  check_reasoning_echo("azure");
}

TEST_CASE("azure, structured output: the schema of the answer is sent where the endpoint takes it") {
  check_structured_output("azure", true);
}

TEST_CASE("azure, caching: the next request begins with the very bytes of the one before") {
  check_caching("azure");
}

TEST_CASE("azure, stop sequences: they are sent") {
  CHECK(sends("azure", R"("stop":["END"])"));
}

TEST_CASE("azure, errors: a reply without its end and an error in the stream are errors, a status is explained") {
  check_errors("azure");
}

TEST_CASE("dial, streaming: text is told as it comes, with what it cost") {
  check_streaming("dial");
}

TEST_CASE("dial, parallel calls: several calls of one reply are read and sent back with their results") {
  check_parallel_calls("dial");
}

TEST_CASE("dial, images in: images are parts of the user message") {
  CHECK(sends(
      "dial",
      R"([{"type":"text","text":"See:"},{"type":"image_url","image_url":{"url":"data:image/png;base64,QQ=="}}])"));
}

TEST_CASE("dial, images in results: in one user message after all tool messages") {
  check_images_in_results("dial");
}

TEST_CASE("dial, reasoning echo: what a deployment's model thought goes back to it only") {
  check_reasoning_echo("dial");
}

TEST_CASE("dial, structured output: the schema of the answer is sent where the endpoint takes it") {
  check_structured_output("dial", false);
}

TEST_CASE("dial, caching: the next request begins with the very bytes of the one before") {
  check_caching("dial");
}

TEST_CASE("dial, stop sequences: they are sent") {
  CHECK(sends("dial", R"("stop":["END"])"));
}

TEST_CASE("dial, errors: a reply without its end and an error in the stream are errors, a status is explained") {
  check_errors("dial");
}

}  // namespace deployments_tests

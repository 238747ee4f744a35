// Gemini: golden requests, transcripts at every split, signatures and errors.
#include "providers/wire/registry/registry.hpp"
#include "test/providers/wire/apis.hpp"

namespace gemini_tests {

using namespace mcpbx;
using namespace mcpbx::json;
using namespace mcpbx::providers;
using namespace mcpbx::providers::registry;
using namespace mcpbx::providers::wire;
using namespace mcpbx::test;
using kind = model_error::kind;

wire_options google() {
  wire_options o;
  o.model = "gemini-3-pro";
  o.base_url = "https://g.example/v1beta";
  return o;
}

std::string parts(std::string_view list, std::string_view more = "") {
  return R"({"candidates":[{"content":{"role":"model","parts":[)" + std::string(list) + "]}" + std::string(more) +
         "}]}";
}
std::string events(const std::vector<std::string>& payloads) {
  return stream(payloads, false);
}
const std::string stop = R"(,"finishReason":"STOP","index":0)";
const std::string counted =
    R"({"candidates":[{"content":{"role":"model","parts":[{"text":""}]},"finishReason":"STOP","index":0}],"usageMetadata":{"promptTokenCount":10,"candidatesTokenCount":3,"thoughtsTokenCount":4,"cachedContentTokenCount":2,"toolUsePromptTokenCount":1,"totalTokenCount":18},"modelVersion":"x","responseId":"r"})";

decoded read(const std::string& bytes, const model_request* request = nullptr) {
  return decode_as("gemini", bytes, std::string_view::npos, google(), request);
}

TEST_CASE("gemini, streaming: the golden request") {
  model_request r;
  r.messages = {
      system_message("Be brief."), user_message("1 + 1?"),
      assistant_of("Let me see.", {call_of("a", "add", R"({"a": 1})"), call_of("b", "now", "{}")}),
      results_of({result_of("a", "add", R"({"content":[{"type":"text","text":"2"}]})"),
                  result_of("b", "now", R"({"content":[{"type":"text","text":"late"}],"isError":true})", true)})};
  r.tools = tools_of({{"add", "Adds", raw_json::literal(R"({"type":"object","properties":{"a":{"type":"number"}}})")},
                      {"now", "", {}}});
  r.settings.max_output_tokens = 100;
  auto o = google();
  o.temperature = "0.5";
  o.top_p = "0.9";
  const auto q = find_codec("gemini")->encode(r, o);
  CHECK(q.url == "https://g.example/v1beta/models/gemini-3-pro:streamGenerateContent?alt=sse");
  CHECK(
      body_as("gemini", r, o) ==
      R"({"generationConfig":{"maxOutputTokens":100,"temperature":0.5,"topP":0.9},"systemInstruction":{"parts":[{"text":"Be brief."}]},)"
      R"("tools":[{"functionDeclarations":[{"name":"add","description":"Adds","parametersJsonSchema":{"type":"object","properties":{"a":{"type":"number"}}}},)"
      R"({"name":"now","description":"","parametersJsonSchema":{"type":"object","properties":{}}}]}],)"
      R"("contents":[{"role":"user","parts":[{"text":"1 + 1?"}]},)"
      R"({"role":"model","parts":[{"text":"Let me see."},{"functionCall":{"name":"add","args":{"a": 1}},"thoughtSignature":"skip_thought_signature_validator"},{"functionCall":{"name":"now","args":{}}}]},)"
      R"({"role":"user","parts":[{"functionResponse":{"name":"add","response":{"output":"2"}}},{"functionResponse":{"name":"now","response":{"error":"late"}}}]}]})");
}

TEST_CASE("F1: gemini: addresses hold the model's name as a path and keep their query") {
  auto o = google();
  o.model = "tunedModels/my model";
  o.base_url = "https://g.example/v1beta/?trace=1";
  CHECK(find_codec("gemini")->encode({}, o).url ==
        "https://g.example/v1beta/tunedModels/my%20model:streamGenerateContent?trace=1&alt=sse");
}

TEST_CASE("gemini, streaming: text, thoughts and usage, the same at every split") {
  const auto t = events({parts(R"({"text":"Hmm","thought":true})"), parts(R"({"text":" so.","thought":true})"),
                         parts(R"({"text":"Hello"})"), parts(R"({"text":" w\u00f6rld \ud83d\ude00"})"), counted});
  check_splits("gemini", t, google());
  const auto d = read(t);
  REQUIRE(d.reply);
  CHECK(d.text() == "Hello wörld \xF0\x9F\x98\x80");
  CHECK(d.thoughts.size() == 2);
  CHECK(d.reply->reason == end_reason::stop);
  CHECK(d.reply->usage.input == 11);
  CHECK(d.reply->usage.output == 7);
  CHECK(d.reply->usage.reasoning == 4);
  CHECK(d.reply->usage.cached == 2);
  CHECK_FALSE(d.reply->usage.estimated);
  CHECK(d.reply->message->raw.text() ==
        "{\"role\":\"model\",\"parts\":[{\"text\":\"Hmm so.\",\"thought\":true},{\"text\":\"Hello wörld "
        "\xF0\x9F\x98\x80\"}]}");
  CHECK(d.reply->message->origin == origin{"gemini", "https://g.example/v1beta", "gemini-3-pro"});
}

TEST_CASE("gemini, streaming: a surrogate pair split between two responses is one character") {
  const auto t = events({parts(R"({"text":"hm \ud83d","thought":true})"), parts(R"({"text":"\ude00.","thought":true})"),
                         parts(R"({"text":"so \ud83d"})"), parts(R"({"text":"\ude00!"})"), counted});
  check_splits("gemini", t, google());
  const auto d = read(t);
  REQUIRE(d.reply);
  CHECK(d.text() == "so 😀!");
  CHECK(d.reply->message->raw.text() ==
        R"({"role":"model","parts":[{"text":"hm 😀.","thought":true},{"text":"so 😀!"}]})");
}

TEST_CASE("gemini, streaming: a list of responses in place of a stream is read") {
  const auto t = "[" + parts(R"({"text":"a"})") + ",\r\n" + parts(R"({"text":"b"})", stop) + "]";
  check_splits("gemini", t, google());
  CHECK(read(t).text() == "ab");
  CHECK(read(parts(R"({"text":"one"})", stop)).text() == "one");
}

TEST_CASE("gemini, parallel calls: calls with STOP are calls, ids are optional and arguments may be missing") {
  const auto t = events(
      {parts(R"({"text":"I look."},{"functionCall":{"name":"add","args":{"a": 1}},"thoughtSignature":"sig"})"),
       parts(R"({"functionCall":{"id":"g1","name":"now"}},{"functionCall":{"name":"add","args":{"a":2}}})", stop)});
  check_splits("gemini", t, google());
  const auto d = read(t);
  REQUIRE(d.calls() == 3);
  CHECK(d.reply->reason == end_reason::tool_calls);
  CHECK(d.reply->raw_reason == "STOP");
  CHECK(d.call(0).arguments.text() == R"({"a": 1})");
  CHECK(d.call(0).id == "call00001");
  CHECK(d.call(1).id == "g1");
  CHECK(d.call(1).arguments.text() == "{}");
  CHECK(d.call(2).id == "call00002");
}

TEST_CASE("gemini, parallel calls: results answer by id where the model gave one, in the order of the calls") {
  const auto d = read(events({parts(
      R"({"functionCall":{"id":"g1","name":"add","args":{}}},{"functionCall":{"name":"now","args":{}}})", stop)}));
  REQUIRE(d.calls() == 2);
  model_request r;
  r.messages = {user_message("q"), d.reply->message,
                results_of({result_of(d.call(0).id, "add", "{}"), result_of(d.call(1).id, "now", "{}")})};
  CHECK(
      body_as("gemini", r, google())
          .find(
              R"({"functionResponse":{"id":"g1","name":"add","response":{"output":""}}},{"functionResponse":{"name":"now","response":{"output":""}}})") !=
      std::string::npos);
}

TEST_CASE("gemini, reasoning echo: signed parts go back as they came, to their origin only") {
  const std::string call = R"({"functionCall": {"name":"add","args":{"a":1}}, "thoughtSignature":"c2ln"})";
  const std::string last = R"({"text":"","thoughtSignature":"bGFzdA=="})";
  const auto d = read(events({parts(R"({"text":"a"})"), parts(R"({"text":"b","thoughtSignature":"dA=="})"),
                              parts(R"({"text":"c"})"), parts(call), parts(last, stop)}));
  REQUIRE(d.reply);
  const auto raw = R"({"role":"model","parts":[{"text":"a"},{"text":"b","thoughtSignature":"dA=="},{"text":"c"},)" +
                   call + "," + last + "]}";
  CHECK(d.reply->message->raw.text() == raw);
  model_request r;
  r.messages = {user_message("q"), d.reply->message};
  CHECK(body_as("gemini", r, google()).find(raw) != std::string::npos);
  auto other = google();
  other.model = "gemini-3-flash";
  const auto body = body_as("gemini", r, other);
  CHECK(body.find("c2ln") == std::string::npos);
  CHECK(body.find("skip_thought_signature_validator") != std::string::npos);
  other.model = "gemini-2.5-pro";
  CHECK(body_as("gemini", r, other).find("thoughtSignature") == std::string::npos);
}

TEST_CASE("gemini, images in: images are inline, and what cannot be sent is said") {
  auto m = std::make_shared<message>();
  m->blocks.emplace_back(text_block{"See:"});
  m->blocks.emplace_back(image_block{"image/png", "QQ==", ""});
  m->blocks.emplace_back(image_block{"image/gif", "QUJD", ""});
  m->blocks.emplace_back(image_block{"", "", "https://x/y.png"});
  m->blocks.emplace_back(file_block{"application/pdf", "a.pdf", "QQ==", ""});
  model_request r;
  r.messages = {m};
  CHECK(
      body_as("gemini", r, google())
          .find(
              R"("parts":[{"text":"See:"},{"inlineData":{"mimeType":"image/png","data":"QQ=="}},{"text":"[image/gif, 3 bytes: left out]"},{"text":"[image at https://x/y.png: left out, this API takes no addresses]"},{"inlineData":{"mimeType":"application/pdf","data":"QQ=="}}])") !=
      std::string::npos);
}

TEST_CASE("gemini, images in results: inside of the result, or behind all results for models before Gemini 3") {
  model_request r;
  r.messages = {
      user_message("q"), assistant_of("", {call_of("a", "shot", "{}"), call_of("b", "now", "{}")}),
      results_of(
          {result_of(
               "a", "shot",
               R"({"content":[{"type":"text","text":"see"},{"type":"image","mimeType":"image/png","data":"QQ=="}]})"),
           result_of("b", "now", R"({"content":[{"type":"audio","mimeType":"audio/wav","data":"QUI="}]})")})};
  CHECK(
      body_as("gemini", r, google())
          .find(
              R"("parts":[{"functionResponse":{"name":"shot","response":{"output":"see"},"parts":[{"inlineData":{"mimeType":"image/png","data":"QQ=="}}]}},)"
              R"({"functionResponse":{"name":"now","response":{"output":"[audio 1, audio/wav: shown below]"}}},)"
              R"({"text":"Media of the tool results above: 1 from now"},{"inlineData":{"mimeType":"audio/wav","data":"QUI="}}])") !=
      std::string::npos);
  auto early = google();
  early.model = "models/gemini-2.5-flash";
  CHECK(
      body_as("gemini", r, early)
          .find(
              R"({"functionResponse":{"name":"shot","response":{"output":"see\n[image 1, image/png: shown below]"}}})") !=
      std::string::npos);
}

TEST_CASE("gemini, images in results: structured content without text is the response itself") {
  model_request r;
  r.messages = {user_message("q"), assistant_of("", {call_of("a", "x", "{}")}),
                results_of({result_of("a", "x", R"({"content":[],"structuredContent":{"n": 1}})")})};
  CHECK(body_as("gemini", r, google()).find(R"("response":{"n":1})") != std::string::npos);
}

TEST_CASE("F9: gemini is told structured content that an error has, or a result of media") {
  const auto sent = [](std::string_view result, bool is_error) {
    model_request r;
    r.messages = {user_message("q"), assistant_of("", {call_of("a", "x", "{}")}),
                  results_of({result_of("a", "x", result, is_error)})};
    return std::string(body_as("gemini", r, google()));
  };
  const auto failed = sent(R"({"content":[],"structuredContent":{"why":"disk full"},"isError":true})", true);
  CHECK_MESSAGE(failed.find(R"("response":{"error":"{\"why\":\"disk full\"}"})") != std::string::npos, failed);
  const auto shot =
      sent(R"({"content":[{"type":"image","mimeType":"image/png","data":"QQ=="}],"structuredContent":{"width":640}})",
           false);
  CHECK_MESSAGE(shot.find(R"({\"width\":640})") != std::string::npos, shot);
}

TEST_CASE("gemini, structured output: the schema goes to models that take it beside tools, to others without tools") {
  model_request r;
  r.messages = {user_message("q")};
  r.answer_schema = raw_json::literal(R"({"type": "array"})");
  const std::string_view asked =
      R"("generationConfig":{"responseMimeType":"application/json","responseJsonSchema":{"type": "array"}})";
  auto early = google();
  early.model = "gemini-2.5-flash";
  CHECK(body_as("gemini", r, google()).find(asked) != std::string::npos);
  CHECK(body_as("gemini", r, early).find(asked) != std::string::npos);
  r.tools = tools_of({{"now", "", {}}});
  CHECK(body_as("gemini", r, google()).find(asked) != std::string::npos);
  CHECK(body_as("gemini", r, early).find(asked) == std::string::npos);
}

TEST_CASE("gemini, stop sequences: they join what the configuration sets") {
  auto o = google();
  o.top_p = "0.5";
  model_request r;
  r.messages = {user_message("q")};
  r.settings.stop = {"\nObservation:", "END"};
  CHECK(body_as("gemini", r, o).find(R"("generationConfig":{"topP":0.5,"stopSequences":["\nObservation:","END"]})") !=
        std::string::npos);
  o.stop_sequences = false;
  CHECK(body_as("gemini", r, o).find("stopSequences") == std::string::npos);
}

TEST_CASE("gemini, caching: a further round begins with the very bytes of the one before") {
  check_prefix("gemini", google(), "]}");
}

TEST_CASE("F1: gemini: what the configuration adds to the body is merged and wins, but for the conversation") {
  auto o = google();
  o.max_output_tokens = 5;
  o.body = raw_json::literal(
      R"({"generationConfig":{"thinkingConfig":{"includeThoughts":true},"maxOutputTokens":7},"safetySettings":[],"contents":[]})");
  model_request r;
  r.messages = {user_message("q")};
  CHECK(
      body_as("gemini", r, o) ==
      R"({"generationConfig":{"maxOutputTokens":7,"thinkingConfig":{"includeThoughts":true}},"safetySettings":[],"contents":[{"role":"user","parts":[{"text":"q"}]}]})");
}

TEST_CASE(
    "gemini, errors: an answer without its end, with an error or with garbage is an error with its partial text") {
  struct row {
    std::string bytes;
    kind type;
    std::string_view partial, says;
  };
  const auto half = parts(R"({"text":"half"})");
  for (
      const auto& r : std::vector<row>{
          {events({half}), kind::cut, "half", "cut off"},
          {events({half, R"({"error":{"code":503,"message":"The model is overloaded.","status":"UNAVAILABLE"}})"}),
           kind::overloaded, "half", "overloaded"},
          {events({half}) + "{\"error\":{\"code\":500,\"message\":\"boom\",\"status\":\"INTERNAL\"}}\n", kind::refused,
           "half", "boom"},
          {events({half}) + "{\n  \"error\": {\n    \"code\": 500,\n    \"message\": \"boom\"\n  }\n}\n", kind::refused,
           "half", "boom"},
          {events({half, "no JSON"}), kind::garbage, "half", "not JSON"},
          {R"([{"error":{"code":400,"message":"API key not valid. Please pass a valid API key.","status":"INVALID_ARGUMENT"}}])",
           kind::bad_request, "", "API key not valid"},
          {R"({"hello":1})", kind::garbage, "", "none of the API gemini"},
          {"<html></html>", kind::garbage, "", "none of the API gemini"},
          {"[" + half, kind::cut, "", "cut off"},
          {"", kind::cut, "", "empty"},
      }) {
    check_splits("gemini", r.bytes, google());
    const auto d = read(r.bytes);
    REQUIRE(d.error);
    CHECK(d.error->type == r.type);
    CHECK(d.error->partial_text == r.partial);
    CHECK(d.error->message.find(r.says) != std::string::npos);
    CHECK(d.error->message.find("model \"gemini-3-pro\" at g.example") != std::string::npos);
  }
  const auto key = find_codec("gemini")->decode_error(
      400,
      R"({"error":{"code":400,"message":"API key not valid. Please pass a valid API key.","status":"INVALID_ARGUMENT"}})",
      google());
  CHECK(key.message.find("Check the key") != std::string::npos);
  const auto full = find_codec("gemini")->decode_error(
      400,
      R"({"error":{"code":400,"message":"The input token count (2000000) exceeds the maximum number of tokens allowed (1048576).","status":"INVALID_ARGUMENT"}})",
      google());
  CHECK(full.type == kind::context_full);
}

TEST_CASE("G29: gemini, errors: length and filters veto the last call, and a call that nobody can read is none") {
  const std::string two = R"({"functionCall":{"name":"x","args":{}}},{"functionCall":{"name":"y","args":{}}})";
  for (const auto& [word, reason] :
       std::vector<std::pair<std::string, end_reason>>{{"MAX_TOKENS", end_reason::length},
                                                       {"SAFETY", end_reason::filter},
                                                       {"RECITATION", end_reason::filter},
                                                       {"OTHER", end_reason::filter},
                                                       {"CONTINUATION", end_reason::length},
                                                       {"NEW_THING", end_reason::unknown}}) {
    const auto d = read(events({parts(two, R"(,"finishReason":")" + word + "\"")}));
    REQUIRE(d.calls() == 1);
    CHECK(d.call(0).name == "x");
    CHECK(d.reply->reason == reason);
    CHECK(d.reply->message->raw.text().find("\"y\"") == std::string_view::npos);
  }
  const auto bad = read(events(
      {R"({"candidates":[{"finishReason":"MALFORMED_FUNCTION_CALL","finishMessage":"Malformed function call: print(x"}]})"}));
  REQUIRE(bad.reply);
  CHECK(bad.reply->reason == end_reason::malformed_call);
  CHECK(bad.reply->raw_reason.find("print(x") != std::string::npos);
  CHECK(bad.reply->message->raw.empty());
  const auto none = read(events({parts(R"({"functionCall":{}},{"functionCall":null})", stop)}));
  REQUIRE(none.calls() == 1);
  CHECK(none.reply->message->raw.text().find(R"({"functionCall":{"name":"unreadable"}})") != std::string_view::npos);
  const auto text = read(events({parts(
      R"({"functionCall":{"name":"x","args":"{\"a\":1}"}},{"functionCall":{"name":"y","args":"oops"}})", stop)}));
  REQUIRE(text.calls() == 2);
  CHECK(text.call(0).arguments.text() == R"({"a":1})");
  CHECK_FALSE(text.call(1).problem.empty());
}

TEST_CASE("G29: gemini, errors: a call whose arguments come in pieces is never run without them") {
  const auto t = events(
      {parts(
           R"({"text":"I write."},{"functionCall":{"name":"rm","partialArgs":[{"jsonPath":"$.path","stringValue":"/tm"}],"willContinue":true}})"),
       parts(R"({"functionCall":{"partialArgs":[{"jsonPath":"$.path","stringValue":"p/x"}],"willContinue":false}})",
             stop)});
  check_splits("gemini", t, google());
  const auto d = read(t);
  REQUIRE(d.error);
  CHECK(d.error->type == kind::configuration);
  CHECK(d.error->partial_text == "I write.");
  CHECK(d.error->message.find("streamFunctionCallArguments") != std::string::npos);
}

TEST_CASE("gemini, errors: how long it asks to wait is read from the details, in a stream too") {
  const std::string body =
      R"({"error":{"code":429,"message":"Quota","status":"RESOURCE_EXHAUSTED","details":[{"@type":"type.googleapis.com/google.rpc.Help","links":[]},{"@type":"type.googleapis.com/google.rpc.RetryInfo","retryDelay":"34.074824224s"}]}})";
  CHECK(find_codec("gemini")->decode_error(429, body, google()).retry_after_ms == 34'075);
  CHECK(find_codec("gemini")->decode_error(429, "[" + body + "]", google()).retry_after_ms == 34'075);
  CHECK(read(events({body})).error->retry_after_ms == 34'075);
  for (const auto* odd : {"34", "s", "-1s", "1e30s", "nans", "34 s"})
    CHECK(find_codec("gemini")
              ->decode_error(429, R"({"error":{"details":[{"retryDelay":")" + std::string(odd) + R"("}]}})", google())
              .retry_after_ms == -1);
}

TEST_CASE("gemini, errors: a blocked prompt is a filtered reply") {
  const auto t =
      events({R"({"promptFeedback":{"blockReason":"PROHIBITED_CONTENT"},"usageMetadata":{"promptTokenCount":4}})"});
  check_splits("gemini", t, google());
  const auto d = read(t);
  REQUIRE(d.reply);
  CHECK(d.reply->reason == end_reason::filter);
  CHECK(d.reply->raw_reason == "blocked: PROHIBITED_CONTENT");
  CHECK(d.reply->message->blocks.empty());
}

TEST_CASE("gemini, streaming: parts that are not known are kept for their origin and never an error") {
  const std::string code = R"({"executableCode":{"language":"PYTHON","code":"1"}})";
  const auto d =
      read(events({parts(code + R"(,{"future":true,"text":"hi"})"),
                   R"({"candidates":[{"index":1,"content":{"parts":[{"text":"no"}]}}],"new":{}})", counted}));
  REQUIRE(d.reply);
  CHECK(d.text() == "hi");
  CHECK(d.reply->message->raw.text().find(code) != std::string_view::npos);
}

TEST_CASE("gemini, stop sequences: they are sent, unless the model takes none") {
  model_request r;
  r.messages = {user_message("q")};
  r.settings.stop = {"\nObservation:"};
  auto o = options();
  CHECK(body_as("gemini", r, o).find(R"("stopSequences":["\nObservation:"])") != std::string::npos);
  o.stop_sequences = false;
  CHECK(body_as("gemini", r, o).find("Observation") == std::string::npos);
}

}  // namespace gemini_tests

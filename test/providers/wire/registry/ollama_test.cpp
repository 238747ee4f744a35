// Ollama's own chat API: golden requests, transcripts at every split and errors.
#include "providers/wire/registry/registry.hpp"
#include "test/providers/wire/apis.hpp"

namespace ollama_tests {

using namespace mcpbx;
using namespace mcpbx::json;
using namespace mcpbx::providers;
using namespace mcpbx::providers::registry;
using namespace mcpbx::providers::wire;
using namespace mcpbx::test;
using kind = model_error::kind;

wire_options local() {
  wire_options o;
  o.model = "qwen3:8b";
  o.base_url = "http://127.0.0.1:11434";
  return o;
}

std::string line(std::string_view message) {
  return R"({"model":"qwen3:8b","created_at":"2026-11-20T10:00:00Z","message":{"role":"assistant",)" +
         std::string(message) + R"(},"done":false})" + "\n";
}
std::string last(std::string_view reason = "stop") {
  return R"({"model":"qwen3:8b","message":{"role":"assistant","content":""},"done":true,"done_reason":")" +
         std::string(reason) + R"(","total_duration":5,"prompt_eval_count":12,"eval_count":7})" + "\n";
}
decoded read(const std::string& bytes, const model_request* request = nullptr) {
  return decode_as("ollama", bytes, std::string_view::npos, local(), request);
}

TEST_CASE("ollama, streaming: the golden request") {
  model_request r;
  r.messages = {system_message("Be brief."), user_message("1 + 1?"),
                assistant_of("", {call_of("a", "add", R"({"a": 1})")}),
                results_of({result_of("a", "add", R"({"content":[{"type":"text","text":"2"}]})")})};
  r.tools = tools_of({{"add", "Adds", raw_json::literal(R"({"type":"object","properties":{"a":{"type":"number"}}})")}});
  r.settings.max_output_tokens = 100;
  auto o = local();
  o.temperature = "0.5";
  CHECK(find_codec("ollama")->encode(r, o).url == "http://127.0.0.1:11434/api/chat");
  CHECK(
      body_as("ollama", r, o) ==
      R"({"model":"qwen3:8b","stream":true,"options":{"num_predict":100,"temperature":0.5},)"
      R"("tools":[{"type":"function","function":{"name":"add","description":"Adds","parameters":{"type":"object","properties":{"a":{"type":"number"}}}}}],)"
      R"("messages":[{"role":"system","content":"Be brief."},{"role":"user","content":"1 + 1?"},)"
      R"({"role":"assistant","content":"","tool_calls":[{"id":"a","function":{"name":"add","arguments":{"a": 1}}}]},)"
      R"({"role":"tool","content":"2","tool_name":"add","tool_call_id":"a"}]})");
  o.base_url = "https://ollama.example/api/";
  CHECK(find_codec("ollama")->encode(r, o).url == "https://ollama.example/api/chat");
}

TEST_CASE("F1: ollama: num_ctx, keep_alive and think come from the configuration") {
  auto o = local();
  o.max_output_tokens = 5;
  o.body =
      raw_json::literal(R"({"options":{"num_ctx":32768,"stop":["x"]},"keep_alive":"5m","think":"low","messages":[]})");
  model_request r;
  r.messages = {user_message("q")};
  CHECK(
      body_as("ollama", r, o) ==
      R"({"model":"qwen3:8b","stream":true,"options":{"num_predict":5,"num_ctx":32768,"stop":["x"]},"keep_alive":"5m","think":"low","messages":[{"role":"user","content":"q"}]})");
}

TEST_CASE("ollama, streaming: text and usage, the same at every split, with and without the last newline") {
  auto t = line(R"("content":"Hel")") + "\r\n" + line(R"("content":"lo w\u00f6rld")") + last();
  check_splits("ollama", t, local());
  check_splits("ollama", t + "after the end", local());
  t.pop_back();
  check_splits("ollama", t, local());
  const auto d = read(t);
  REQUIRE(d.reply);
  CHECK(d.text() == "Hello wörld");
  CHECK(d.reply->reason == end_reason::stop);
  CHECK(d.reply->usage.input == 12);
  CHECK(d.reply->usage.output == 7);
  CHECK(d.reply->message->raw.text() == R"({"role":"assistant","content":"Hello wörld"})");
}

TEST_CASE("ollama, streaming: a surrogate pair split between two lines is one character") {
  const auto t = line(R"("content":"so \ud83d","thinking":"hm \ud83d")") +
                 line(R"("content":"\ude00!","thinking":"\ude00.")") + last();
  check_splits("ollama", t, local());
  const auto d = read(t);
  REQUIRE(d.reply);
  CHECK(d.text() == "so 😀!");
  std::string thought;
  for (const auto& part : d.thoughts) thought += part;
  CHECK(thought == "hm 😀.");
}

TEST_CASE("ollama, streaming: one value over several lines is read") {
  const std::string t = "{\n \"message\": {\n  \"content\": \"hi\"\n },\n \"done\": true\n}\n";
  check_splits("ollama", t, local());
  CHECK(read(t).text() == "hi");
  CHECK(read(t).reply->usage.estimated);
}

TEST_CASE("ollama, parallel calls: calls of several lines are all there, with ids where none came") {
  const auto t =
      line(R"("content":"","tool_calls":[{"function":{"index":0,"name":"add","arguments":{"a": 1}}}])") +
      line(
          R"("content":"","tool_calls":[{"id":"o1","function":{"name":"now","arguments":{}}},{"function":{"name":"add","arguments":null}}])") +
      last();
  check_splits("ollama", t, local());
  const auto d = read(t);
  REQUIRE(d.calls() == 3);
  CHECK(d.reply->reason == end_reason::tool_calls);
  CHECK(d.call(0).id == "call00001");
  CHECK(d.call(0).arguments.text() == R"({"a": 1})");
  CHECK(d.call(1).id == "o1");
  CHECK(d.call(2).arguments.text() == "{}");
  CHECK(
      d.reply->message->raw.text() ==
      R"({"role":"assistant","content":"","tool_calls":[{"function":{"name":"add","arguments":{"a": 1}}},{"id":"o1","function":{"name":"now","arguments":{}}},{"function":{"name":"add","arguments":{}}}]})");
  model_request r;
  r.messages = {user_message("q"), d.reply->message,
                results_of({result_of(d.call(0).id, "add", "{}"), result_of("o1", "now", "{}")})};
  CHECK(
      body_as("ollama", r, local())
          .ends_with(
              R"({"role":"tool","content":"","tool_name":"add"},{"role":"tool","content":"","tool_name":"now","tool_call_id":"o1"}]})"));
}

TEST_CASE("ollama, reasoning echo: thinking goes back to its origin only, and <think> is taken off the text") {
  const auto d = read(line(R"("content":"","thinking":"Hm ")") + line(R"("content":"","thinking":"yes")") +
                      line(R"("content":"ok")") + last());
  CHECK(d.thoughts == std::vector<std::string>{"Hm ", "yes"});
  CHECK(d.reply->message->raw.text() == R"({"role":"assistant","content":"ok","thinking":"Hm yes"})");
  model_request r;
  r.messages = {user_message("q"), d.reply->message};
  CHECK(body_as("ollama", r, local()).find("Hm yes") != std::string::npos);
  auto other = local();
  other.model = "llama";
  CHECK(body_as("ollama", r, other).find("Hm yes") == std::string::npos);
  const auto t =
      line(R"("content":"<thi")") + line(R"("content":"nk>so</think>\n")") + line(R"("content":"text")") + last();
  check_splits("ollama", t, local());
  CHECK(read(t).text() == "text");
  CHECK(read(t).thoughts == std::vector<std::string>{"so"});
}

TEST_CASE("ollama, images in: images are base64 without a prefix, and what cannot be sent is said") {
  auto m = std::make_shared<message>();
  m->blocks.emplace_back(text_block{"See:"});
  m->blocks.emplace_back(image_block{"image/png", "QQ==", ""});
  m->blocks.emplace_back(image_block{"", "", "https://x/y.png"});
  m->blocks.emplace_back(file_block{"application/pdf", "a.pdf", "QQ==", ""});
  model_request r;
  r.messages = {m};
  CHECK(
      body_as("ollama", r, local())
          .ends_with(
              R"({"role":"user","content":"See:\n\n[image at https://x/y.png: left out, this API takes no addresses]\n\n[file a.pdf, application/pdf, 1 bytes: left out]","images":["QQ=="]}]})"));
}

TEST_CASE("ollama, images in results: in one user message behind all tool messages") {
  model_request r;
  r.messages = {
      results_of({result_of("a", "shot", R"({"content":[{"type":"image","mimeType":"image/png","data":"QQ=="}]})"),
                  result_of("b", "now", R"({"content":[{"type":"text","text":"no"}],"isError":true})", true)})};
  CHECK(
      body_as("ollama", r, local())
          .find(
              R"({"role":"tool","content":"[image 1, image/png: shown below]","tool_name":"shot","tool_call_id":"a"},)"
              R"({"role":"tool","content":"Error: no","tool_name":"now","tool_call_id":"b"},)"
              R"({"role":"user","content":"Images of the tool results above: 1 from shot","images":["QQ=="]})") !=
      std::string::npos);
}

TEST_CASE("ollama, structured output: the schema is the format of an answer without tools") {
  model_request r;
  r.messages = {user_message("q")};
  r.answer_schema = raw_json::literal(R"({"type": "array"})");
  CHECK(body_as("ollama", r, local()).find(R"("format":{"type": "array"},"messages")") != std::string::npos);
  r.tools = tools_of({{"now", "", {}}});
  CHECK(body_as("ollama", r, local()).find("format") == std::string::npos);
}

TEST_CASE("ollama, stop sequences: they are one of the options") {
  model_request r;
  r.messages = {user_message("q")};
  r.settings.stop = {"\nObservation:"};
  CHECK(body_as("ollama", r, local()).find(R"("options":{"stop":["\nObservation:"]})") != std::string::npos);
}

TEST_CASE("ollama, caching: a further round begins with the very bytes of the one before") {
  check_prefix("ollama", local(), "]}");
}

TEST_CASE(
    "ollama, errors: an answer without its end, with an error or with garbage is an error with its partial text") {
  struct row {
    std::string bytes;
    kind type;
    std::string_view partial, says;
  };
  const auto half = line(R"("content":"half")");
  for (const auto& r : std::vector<row>{
           {half, kind::cut, "half", "cut off"},
           {half + R"({"mess)", kind::cut, "half", "cut off"},
           {half + "{\"error\":\"an error was encountered while running the model\"}\n", kind::refused, "half",
            "while running the model"},
           {half + "not JSON\n", kind::garbage, "half", "not JSON"},
           {"{\"error\":\"model runner has stopped\"}", kind::refused, "", "runner has stopped"},
           {"<html></html>", kind::garbage, "", "none of the API ollama"},
           {"{\"hello\":1}\n", kind::garbage, "", "none of the API ollama"},
           {"[]\n", kind::garbage, "", "none of the API ollama"},
           {R"({"message":{"content":"ha)", kind::cut, "", "cut off"},
           {"\n\n", kind::cut, "", "empty"},
           {"", kind::cut, "", "empty"},
       }) {
    check_splits("ollama", r.bytes, local());
    const auto d = read(r.bytes);
    REQUIRE(d.error);
    CHECK(d.error->type == r.type);
    CHECK(d.error->partial_text == r.partial);
    CHECK(d.error->message.find(r.says) != std::string::npos);
    CHECK(d.error->message.find("model \"qwen3:8b\" at 127.0.0.1:11434") != std::string::npos);
  }
  const auto absent =
      find_codec("ollama")->decode_error(404, R"({"error":"model \"x\" not found, try pulling it first"})", local());
  CHECK(absent.message.find("try pulling it first. Check the model's name") != std::string::npos);
  CHECK(absent.type == kind::bad_request);
  CHECK_FALSE(absent.retryable);
  struct status_row {
    int status;
    std::string_view body;
    kind type;
    bool retryable;
    std::string_view says;
  };
  for (const auto& r : std::vector<status_row>{
           {400, R"({"error":"registry.example/m does not support tools"})", kind::bad_request, false,
            "does not support tools. Check"},
           {400, R"({"error":"the input length exceeds the context length"})", kind::context_full, false, "too long"},
           {401, R"({"error":"unauthorized"})", kind::bad_request, false, "unauthorized. Check the key"},
           {500, R"({"error":"model requires more system memory (5.6 GiB) than is available"})", kind::refused, true,
            "more system memory"},
           {503, R"({"error":"server busy, please try again.  maximum pending requests exceeded"})", kind::overloaded,
            true, "server busy"},
       }) {
    CAPTURE(r.body);
    const auto e = find_codec("ollama")->decode_error(r.status, r.body, local());
    CHECK(e.type == r.type);
    CHECK(e.retryable == r.retryable);
    CHECK_MESSAGE(e.message.find(r.says) != std::string::npos, e.message);
  }
}

TEST_CASE("G29: ollama, errors: the length limit vetoes the last call, arguments that are no object are told") {
  const std::string two =
      R"("content":"","tool_calls":[{"function":{"name":"x","arguments":{}}},{"function":{"name":"y","arguments":{}}}])";
  const auto cut = read(line(two) + last("length"));
  REQUIRE(cut.calls() == 1);
  CHECK(cut.reply->reason == end_reason::length);
  const auto unknown = read(line(two) + last("new_thing"));
  CHECK(unknown.calls() == 1);
  CHECK(unknown.reply->reason == end_reason::unknown);
  const auto odd = read(
      line(
          R"("tool_calls":[{"function":{"name":"x","arguments":"{\"a\":1}"}},{"function":{"name":"y","arguments":[1]}},{"function":{"arguments":{}}}])") +
      last());
  REQUIRE(odd.calls() == 3);
  CHECK(odd.call(0).arguments.text() == R"({"a":1})");
  CHECK_FALSE(odd.call(1).problem.empty());
  CHECK(odd.reply->message->raw.text().find(R"({"unreadable_arguments":"[1]"})") != std::string_view::npos);
}

TEST_CASE("ollama, stop sequences: they are sent, unless the model takes none") {
  model_request r;
  r.messages = {user_message("q")};
  r.settings.stop = {"\nObservation:"};
  auto o = options();
  CHECK(body_as("ollama", r, o).find(R"("stop":["\nObservation:"])") != std::string::npos);
  o.stop_sequences = false;
  CHECK(body_as("ollama", r, o).find("Observation") == std::string::npos);
}

}  // namespace ollama_tests

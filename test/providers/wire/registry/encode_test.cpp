// Golden request bytes, and that a round encodes only what is new.
#include "providers/wire/registry/registry.hpp"
#include "test/providers/wire/apis.hpp"

#include <doctest/doctest.h>

namespace encode_tests {

using namespace mcpbx;
using namespace mcpbx::json;
using namespace mcpbx::providers;
using namespace mcpbx::providers::registry;
using namespace mcpbx::providers::wire;
using namespace mcpbx::test;

const codec& chat() {
  return *find_codec("openai-chat");
}
std::string body(const model_request& r, const wire_options& o = options()) {
  return chat().encode(r, o).body.str();
}

TEST_CASE("encode: the golden request") {
  auto tools = std::make_shared<tool_set>();
  tools->tools.push_back(
      {"add", "Adds \"two\" numbers", raw_json::literal(R"({"type":"object","properties":{"a":{"type":"number"}}})")});
  tools->tools.push_back({"now", "", {}});
  model_request r;
  r.messages = {system_message("Be brief."), user_message("1 + 1?"),
                assistant_of("", {call_of("a", "add", R"({"a": 1})")}),
                results_of({{"a", "add", raw_json::literal(R"({"content":[{"type":"text","text":"2"}]})"), false}})};
  r.tools = tools;
  r.settings.max_output_tokens = 100;
  const auto q = chat().encode(r, options());
  CHECK(q.url == "https://api.example.com/v1/chat/completions");
  CHECK(
      q.body.str() ==
      R"({"model":"m","stream":true,"stream_options":{"include_usage":true},"max_tokens":100,"messages":[)"
      R"({"role":"system","content":"Be brief."},{"role":"user","content":"1 + 1?"},)"
      R"({"role":"assistant","content":"","tool_calls":[{"id":"a","type":"function","function":{"name":"add","arguments":"{\"a\": 1}"}}]},)"
      R"({"role":"tool","tool_call_id":"a","content":"2"}],)"
      R"("tools":[{"type":"function","function":{"name":"add","description":"Adds \"two\" numbers","parameters":{"type":"object","properties":{"a":{"type":"number"}}}}},)"
      R"({"type":"function","function":{"name":"now","parameters":{"type":"object","properties":{}}}}]})");
  CHECK(raw_json::parse(q.body.str()).has_value());
}

TEST_CASE("encode: without tools nothing about tools is said, and switches change what is asked") {
  model_request r;
  r.messages = {user_message("x")};
  r.tools = std::make_shared<tool_set>();
  auto o = options();
  o.stream_options = false;
  o.max_tokens_field = "max_completion_tokens";
  o.max_output_tokens = 5;
  o.temperature = "0.5";
  o.top_p = "0.9";
  CHECK(
      body(r, o) ==
      R"({"model":"m","stream":true,"max_completion_tokens":5,"temperature":0.5,"top_p":0.9,"messages":[{"role":"user","content":"x"}]})");
}

TEST_CASE("encode: base addresses are joined with one slash and keep their query") {
  auto o = options();
  o.base_url = "https://host/api/v1/?api-version=2";
  model_request r;
  CHECK(chat().encode(r, o).url == "https://host/api/v1/chat/completions?api-version=2");
}

TEST_CASE("L3: an assistant message goes back to its origin byte for byte and to others without what is opaque") {
  const std::string_view raw = R"({"role":"assistant","content":"hi","reasoning_content":"secret thoughts"})";
  const auto m = assistant_of("hi", {}, {"openai-chat", "https://api.example.com/v1", "m"}, raw);
  model_request r;
  r.messages = {m};
  CHECK(body(r).find(raw) != std::string::npos);
  for (auto change : {0, 1}) {
    auto o = options();
    (change == 0 ? o.model : o.base_url) += "x";
    const auto other = body(r, o);
    CHECK(other.find("secret") == std::string::npos);
    CHECK(other.find(R"({"role":"assistant","content":"hi"})") != std::string::npos);
  }
}

TEST_CASE(
    "encode: an answer of which nothing is left for another API is no message there, and no question is missing") {
  model_request r;
  r.messages = {user_message("q"), assistant_of("", {}), user_message("")};
  CHECK(body_as("openai-chat", r).find("assistant") == std::string::npos);
  CHECK(
      body_as("gemini", r)
          .ends_with(
              R"("contents":[{"role":"user","parts":[{"text":"q"}]},{"role":"user","parts":[{"text":"[empty message]"}]}]})"));
}

TEST_CASE("encode: content of a message with calls only is empty, or null where that is asked for") {
  model_request r;
  r.messages = {assistant_of("", {call_of("a", "x", "{}")})};
  CHECK(body(r).find(R"("content":"","tool_calls")") != std::string::npos);
  auto o = options();
  o.null_content = true;
  CHECK(body(r, o).find(R"("content":null,"tool_calls")") != std::string::npos);
}

TEST_CASE("encode: arguments that could not be read are sent as JSON that holds them") {
  tool_call_block c{"a", "", "x", {}, "{\"p\": \"hel", "bad"};
  model_request r;
  r.messages = {assistant_of("", {c})};
  const auto b = body(r);
  CHECK(b.find(R"("arguments":"{\"unreadable_arguments\":\"{\\\"p\\\": \\\"hel\"}")") != std::string::npos);
  CHECK(raw_json::parse(b).has_value());
}

TEST_CASE("F9: every kind of tool result becomes what chat completions can carry") {
  const auto text = [](std::string_view result, bool is_error = false) {
    model_request r;
    r.messages = {results_of({{"a", "t", raw_json::literal(result), is_error}})};
    const auto b = raw_json::parse(body(r));
    REQUIRE(b.has_value());
    std::string content;
    for_each_element(find_member(*b, "messages"), [&](raw_json m) {
      if (content.empty()) content = find_member(m, "content").as_string().value_or("?");
      return true;
    });
    return content;
  };
  CHECK(text(R"({"content":[{"type":"text","text":"a"},{"type":"text","text":"b"}]})") == "a\nb");
  CHECK(text(R"({"content":[{"type":"text","text":"no"}],"isError":true})", true) == "Error: no");
  CHECK(text(R"({"content":[],"structuredContent":{"n":1}})") == R"({"n":1})");
  CHECK(text(R"({"content":[{"type":"text","text":"t"}],"structuredContent":{"n":1}})") == "t");
  CHECK(
      text(
          R"({"content":[{"type":"resource","resource":{"uri":"file:///a","mimeType":"text/plain","text":"body"}}]})") ==
      "[resource file:///a]\nbody");
  CHECK(
      text(
          R"({"content":[{"type":"resource","resource":{"uri":"file:///b","mimeType":"application/pdf","blob":"QUJD"}}]})") ==
      "[resource file:///b, application/pdf, 3 bytes, not text: left out]");
  CHECK(text(R"({"content":[{"type":"resource_link","name":"n","uri":"file:///c","mimeType":"text/x"}]})") ==
        "[resource link: n, file:///c, text/x]");
  CHECK(text(R"({"content":[{"type":"audio","mimeType":"audio/wav","data":"QUI="}]})") ==
        "[audio, audio/wav, 2 bytes: left out]");
  CHECK(text(R"({"content":[{"type":"image","mimeType":"image/tiff","data":"QQ=="}]})") ==
        "[image, image/tiff, 1 bytes: left out]");
  CHECK(text(R"({})") == "");
}

TEST_CASE("openai-chat, images in results: in one user message after all tool messages (F9)") {
  model_request r;
  const std::string_view image =
      R"({"content":[{"type":"text","text":"see"},{"type":"image","mimeType":"image/png","data":"QQ=="}]})";
  r.messages = {
      results_of({{"a", "shot", raw_json::literal(image), false}, {"b", "shot", raw_json::literal(image), false}})};
  CHECK(
      body(r).find(
          R"({"role":"tool","tool_call_id":"a","content":"see\n[image 1, image/png: shown below]"},)"
          R"({"role":"tool","tool_call_id":"b","content":"see\n[image 1, image/png: shown below]"},)"
          R"({"role":"user","content":[{"type":"text","text":"Images of the tool results above: 1 from shot, 1 from shot"},)"
          R"({"type":"image_url","image_url":{"url":"data:image/png;base64,QQ=="}},{"type":"image_url","image_url":{"url":"data:image/png;base64,QQ=="}}]})") !=
      std::string::npos);
}

TEST_CASE(
    "openai-chat, parallel calls: several calls of one reply, interleaved, are read and sent back with their results") {
  const auto d = decode(stream(
      {calls(
           R"([{"index":0,"id":"a","type":"function","function":{"name":"x","arguments":"{\"p\":"}},{"index":1,"id":"b","type":"function","function":{"name":"y","arguments":"{"}}])"),
       calls(R"([{"index":1,"function":{"arguments":"}"}},{"index":0,"function":{"arguments":"1}"}}])"),
       finish("tool_calls")}));
  REQUIRE(d.calls() == 2);
  CHECK(d.reply->reason == end_reason::tool_calls);
  CHECK(d.call(0).name == "x");
  CHECK(d.call(0).arguments.text() == R"({"p":1})");
  CHECK(d.call(1).name == "y");
  CHECK(d.call(1).arguments.text() == "{}");
  model_request r;
  r.messages = {user_message("q"), d.reply->message,
                results_of({{"a", "x", raw_json::literal(R"({"content":[{"type":"text","text":"1"}]})"), false},
                            {"b", "y", raw_json::literal(R"({"content":[{"type":"text","text":"2"}]})"), false}})};
  CHECK(body(r).find(
            R"("tool_calls":[{"id":"a","type":"function","function":{"name":"x","arguments":"{\"p\":1}"}},)"
            R"({"id":"b","type":"function","function":{"name":"y","arguments":"{}"}}]},)"
            R"({"role":"tool","tool_call_id":"a","content":"1"},{"role":"tool","tool_call_id":"b","content":"2"}])") !=
        std::string::npos);
}

TEST_CASE("openai-chat, caching: a further round begins with the very bytes of the one before") {
  auto tools = std::make_shared<tool_set>();
  tools->tools.push_back({"add", "d", {}});
  model_request r;
  r.tools = tools;
  r.messages = {system_message("s"), user_message("q")};
  const auto first = chat().encode(r, options());
  r.messages.push_back(assistant_of("", {call_of("a", "add", "{}")}));
  r.messages.push_back(results_of({{"a", "add", raw_json::literal("{}"), false}}));
  const auto second = chat().encode(r, options());
  const auto prefix = first.body.str().substr(0, first.body.str().find("],\"tools\""));
  CHECK(second.body.str().starts_with(prefix));
  // Not only equal: the same bytes, encoded once.
  CHECK(first.body.pieces()[1].text().data() == second.body.pieces()[1].text().data());
  CHECK(first.body.pieces()[first.body.pieces().size() - 2].text().data() ==
        second.body.pieces()[second.body.pieces().size() - 2].text().data());
}

TEST_CASE(
    "L6: a note stands at the end of the last message of this call only, and leaves what is before it as it was") {
  model_request r;
  r.messages = {system_message("s"), user_message("q")};
  r.note = "round 1";
  CHECK(body(r).find(R"({"role":"user","content":"q\n\nround 1"}])") != std::string::npos);
  r.messages.push_back(assistant_of("", {call_of("a", "add", "{}"), call_of("b", "add", "{}")}));
  r.messages.push_back(
      results_of({{"a", "add", raw_json::literal(R"({"content":[{"type":"text","text":"1"}]})"), false},
                  {"b", "add", raw_json::literal(R"({"content":[{"type":"text","text":"2"}]})"), false}}));
  r.note = "round 2";
  const auto second = body(r);
  CHECK(second.find(R"({"role":"user","content":"q"})") != std::string::npos);
  CHECK(second.find(R"("content":"1"},{"role":"tool","tool_call_id":"b","content":"2\n\nround 2"}])") !=
        std::string::npos);
  r.note = "";
  CHECK(body(r).find("round") == std::string::npos);
  // The next round begins with the same bytes, up to the note.
  const auto third = body(r);
  CHECK(third.starts_with(second.substr(0, second.find("\\n\\nround 2"))));
  auto picture = std::make_shared<message>();
  picture->blocks.emplace_back(image_block{"image/png", "aGk=", ""});
  r.messages = {picture};
  r.note = "look";
  CHECK(body(r).find(R"(}},{"type":"text","text":"look"}]})") != std::string::npos);
}

TEST_CASE("openai-chat, images in: images, sound and files of a caller are parts of the user message, in order") {
  auto m = std::make_shared<message>();
  m->blocks.emplace_back(text_block{"see"});
  m->blocks.emplace_back(image_block{"image/png", "QQ==", ""});
  m->blocks.emplace_back(image_block{"", "", "https://x/y.png", "low"});
  m->blocks.emplace_back(file_block{"application/pdf", "a.pdf", "QQ==", ""});
  m->blocks.emplace_back(file_block{"audio/wav", "", "QQ==", ""});
  m->blocks.emplace_back(file_block{"", "b.pdf", "", "https://x/b.pdf"});
  m->blocks.emplace_back(image_block{"image/tiff", "QQ==", ""});
  m->blocks.emplace_back(file_block{"application/zip", "a.zip", "QQ==", ""});
  model_request r;
  r.messages = {m};
  CHECK(body(r).find(R"({"role":"user","content":[{"type":"text","text":"see"},)"
                     R"({"type":"image_url","image_url":{"url":"data:image/png;base64,QQ=="}},)"
                     R"({"type":"image_url","image_url":{"url":"https://x/y.png","detail":"low"}},)"
                     R"({"type":"file","file":{"filename":"a.pdf","file_data":"data:application/pdf;base64,QQ=="}},)"
                     R"({"type":"input_audio","input_audio":{"data":"QQ==","format":"wav"}},)"
                     R"({"type":"text","text":"[file b.pdf, https://x/b.pdf]"},)"
                     R"({"type":"text","text":"[image, image/tiff, 1 bytes: left out]"},)"
                     R"({"type":"text","text":"[file a.zip, application/zip, 1 bytes: left out]"}]})") !=
        std::string::npos);
}

TEST_CASE(
    "openai-chat, structured output: the schema of the answer goes to endpoints that take one, beside the tools") {
  auto tools = std::make_shared<tool_set>();
  tools->tools.push_back({"now", "", {}});
  model_request r;
  r.messages = {user_message("q")};
  r.tools = tools;
  r.answer_schema = raw_json::literal(R"({"type": "array"})");
  CHECK(body(r).find("response_format") == std::string::npos);
  auto o = options();
  o.answer_schema = true;
  CHECK(body(r, o).ends_with(
      R"(}}],"response_format":{"type":"json_schema","json_schema":{"name":"answer","schema":{"type": "array"}}}})"));
}

TEST_CASE("openai-chat, stop sequences: they are sent, unless the model takes none") {
  model_request r;
  r.messages = {user_message("q")};
  r.settings.stop = {"\nObservation:"};
  auto o = options();
  CHECK(body_as("openai-chat", r, o).find(R"("stop":["\nObservation:"])") != std::string::npos);
  o.stop_sequences = false;
  CHECK(body_as("openai-chat", r, o).find("Observation") == std::string::npos);
}

TEST_CASE("L12: what only its origin understands of a turn is no empty message to another API") {
  for (const std::string_view api : {"openai-chat", "openai-responses", "anthropic", "gemini", "ollama"}) {
    CAPTURE(api);
    model_request r;
    r.messages = {user_message("one"), assistant_of("", {}), assistant_of("two", {}), user_message("three")};
    const auto body = body_as(api, r);
    CHECK_MESSAGE(body.find(R"("content":"")") == body.npos, body);
    CHECK(body.find(R"("content":[])") == body.npos);
    CHECK(body.find(R"("parts":[])") == body.npos);
    CHECK(body.find(",,") == body.npos);
    CHECK(body.find("two") != body.npos);
  }
}

TEST_CASE("F8: a tool that keeps what it was encoded to is not encoded again, and strictness is told apart") {
  for (const std::string api : {"openai-chat", "openai-responses", "anthropic", "gemini", "ollama"}) {
    CAPTURE(api);
    wire_options options;
    options.base_url = "http://127.0.0.1/v1";
    providers::tool_definition tool{"echo", "first", raw_json::literal(R"({"type":"object","properties":{}})")};
    tool.encoded = std::make_shared<fragment_cache>();
    const auto body = [&] {
      model_request r;
      auto set = std::make_shared<tool_set>();
      set->tools = {tool, {"plain", "", {}}};
      r.tools = set;
      return find_codec(api)->encode(r, options).body.str();
    };
    const auto before = body();
    CHECK(before.find("first") != std::string::npos);
    tool.description = "second";  // would be another definition, with nothing kept
    CHECK(body() == before);
    options.strict = true;
    const bool told_apart = api != "gemini" && api != "ollama";
    CHECK((body().find("second") != std::string::npos) == told_apart);
    tool.encoded = nullptr;
    CHECK(body().find("second") != std::string::npos);
  }
}

TEST_CASE("F8: the tools of a set are encoded once for each API, and strictness is told apart") {
  model_request r;
  auto set = std::make_shared<tool_set>();
  set->tools = {{"echo", "", raw_json::literal(R"({"type":"object","properties":{},"additionalProperties":false})")}};
  r.tools = set;
  for (const std::string api : {"openai-chat", "openai-responses", "anthropic", "gemini", "ollama", "azure", "dial"}) {
    CAPTURE(api);
    wire_options options;
    options.base_url = "http://127.0.0.1/v1";
    const auto list = [&]() -> const char* {
      const auto sent = find_codec(api)->encode(r, options);
      for (const auto& piece : sent.body.pieces())
        if (piece.text().find("\"echo\"") != std::string_view::npos) return piece.text().data();
      return nullptr;
    };
    const auto* const first = list();
    REQUIRE(first != nullptr);
    CHECK(list() == first);
    options.strict = true;
    const bool told_apart = api != "gemini" && api != "ollama";
    CHECK((list() != first) == told_apart);
    options.strict.reset();
    CHECK(list() == first);
  }
}

}  // namespace encode_tests

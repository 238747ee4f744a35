// Requests of the Messages API: golden bytes, cache marks that move without changing what is cached, echo and results.
#include "providers/wire/registry/registry.hpp"
#include "test/providers/wire/apis.hpp"

#include <doctest/doctest.h>

namespace anthropic_encode_tests {

using namespace mcpbx;
using namespace mcpbx::json;
using namespace mcpbx::providers;
using namespace mcpbx::providers::registry;
using namespace mcpbx::providers::wire;
using namespace mcpbx::test;

const codec& messages() {
  return *find_codec("anthropic");
}
wire_options at_anthropic() {
  auto o = options();
  o.base_url = "https://api.anthropic.com";
  return o;
}
std::string body(const model_request& r, const wire_options& o = at_anthropic()) {
  auto text = messages().encode(r, o).body.str();
  CHECK(raw_json::parse(text).has_value());
  return text;
}
bool has(std::string_view text, std::string_view part) {
  return text.find(part) != std::string_view::npos;
}
std::size_t marks(std::string_view text) {
  std::size_t n = 0;
  for (std::size_t at = 0; (at = text.find(cache_mark, at)) != std::string_view::npos; at += cache_mark.size()) ++n;
  return n;
}
std::shared_ptr<tool_set> two_tools() {
  auto tools = std::make_shared<tool_set>();
  tools->tools.push_back(
      {"add", "Adds \"two\" numbers", raw_json::literal(R"({"type":"object","properties":{"a":{"type":"number"}}})")});
  tools->tools.push_back({"now", "", {}});
  return tools;
}

TEST_CASE("anthropic, streaming: the golden request") {
  model_request r;
  r.messages = {system_message("Be brief."), user_message("1 + 1?"),
                assistant_of("", {call_of("a", "add", R"({"a": 1})")}),
                results_of({{"a", "add", raw_json::literal(R"({"content":[{"type":"text","text":"2"}]})"), false}})};
  r.tools = two_tools();
  r.settings.max_output_tokens = 100;
  const auto q = messages().encode(r, at_anthropic());
  CHECK(q.url == "https://api.anthropic.com/v1/messages");
  CHECK(q.headers.back() == std::pair<std::string, std::string>{"anthropic-version", "2026-10-21"});
  CHECK(
      body(r) ==
      R"({"model":"m","max_tokens":100,"stream":true,)"
      R"("tools":[{"name":"add","description":"Adds \"two\" numbers","input_schema":{"type":"object","properties":{"a":{"type":"number"}}}},)"
      R"({"name":"now","input_schema":{"type":"object","properties":{}},"cache_control":{"type":"ephemeral"}}],)"
      R"("system":[{"type":"text","text":"Be brief.","cache_control":{"type":"ephemeral"}}],)"
      R"("messages":[{"role":"user","content":[{"type":"text","text":"1 + 1?"}]},)"
      R"({"role":"assistant","content":[{"type":"tool_use","id":"a","name":"add","input":{"a": 1},"cache_control":{"type":"ephemeral"}}]},)"
      R"({"role":"user","content":[{"type":"tool_result","tool_use_id":"a","content":[{"type":"text","text":"2"}],"cache_control":{"type":"ephemeral"}}]}]})");
}

TEST_CASE("anthropic: the version is configurable, and sampling goes only to versions that take it") {
  model_request r;
  r.messages = {user_message("x")};
  auto o = at_anthropic();
  o.temperature = "0.5";
  o.top_p = "0.9";
  CHECK(body(r, o).starts_with(R"({"model":"m","max_tokens":16384,"stream":true,"messages":)"));
  o.api_version = "2023-06-01";
  o.max_output_tokens = 7;
  CHECK(messages().encode(r, o).headers.back().second == "2023-06-01");
  CHECK(
      body(r, o).starts_with(R"({"model":"m","max_tokens":7,"stream":true,"temperature":0.5,"top_p":0.9,"messages":)"));
}

TEST_CASE("anthropic: base addresses are taken with and without the version's part") {
  auto o = at_anthropic();
  for (const auto* base :
       {"https://x.example", "https://x.example/", "https://x.example/v1", "https://x.example/v1/"}) {
    o.base_url = base;
    CHECK(messages().encode({}, o).url == "https://x.example/v1/messages");
  }
  o.base_url = "https://x.example/anthropic?key=1";
  CHECK(messages().encode({}, o).url == "https://x.example/anthropic/v1/messages?key=1");
}

TEST_CASE(
    "anthropic, caching: a further round has the prefix of the one before byte for byte, and at most four marks") {
  model_request r;
  r.tools = two_tools();
  r.messages = {system_message("s"), user_message("q")};
  auto before = body(r);
  CHECK(marks(before) == 3);
  for (int round = 1; round <= 5; ++round) {
    CAPTURE(round);
    const auto id = "c" + std::to_string(round);
    r.messages.push_back(assistant_of("I look.", {call_of(id, "add", "{}")}));
    r.messages.push_back(results_of({{id, "add", raw_json::literal("{}"), false}}));
    r.note = round % 2 == 0 ? "round " + std::to_string(round) : "";
    const auto now = body(r);
    CHECK(marks(now) == 4);
    // Marks are not cached; a note is, for this call only, behind the last mark.
    auto prefix = unmarked(before);
    if (const auto note = prefix.find(R"(,{"type":"text","text":"round )"); note != std::string::npos)
      prefix.resize(note);
    else
      prefix.resize(prefix.size() - 2);
    CHECK(unmarked(now).starts_with(prefix));
    // Up to the first message that lost its mark, nothing moved at all.
    const auto first_message = before.find(R"("messages":[)");
    CHECK(now.substr(0, first_message) == before.substr(0, first_message));
    before = now;
  }
}

TEST_CASE("anthropic, caching: a round encodes only what is new") {
  model_request r;
  r.tools = two_tools();
  r.messages = {user_message("q"), assistant_of("a", {}), user_message("q2"), assistant_of("b", {}),
                user_message("q3")};
  const auto first = messages().encode(r, at_anthropic());
  const auto second = messages().encode(r, at_anthropic());
  CHECK(first.body.pieces()[1].text().data() == second.body.pieces()[1].text().data());
  CHECK(first.body.pieces()[3].text().data() == second.body.pieces()[3].text().data());
  const auto last = first.body.pieces().size() - 4;
  CHECK(first.body.pieces()[last].text().data() == second.body.pieces()[last].text().data());
}

TEST_CASE("anthropic, reasoning echo: the origin gets its message byte for byte, everybody else no thoughts") {
  const std::string_view raw =
      R"({"role":"assistant","content":[{"type":"thinking","thinking":"secret thoughts","signature":"s\/1"},{"type":"redacted_thinking","data":"r=="},{"type":"text","text":"hi"}]})";
  const auto m = assistant_of("hi", {}, {"anthropic", "https://api.anthropic.com", "m"}, raw);
  model_request r;
  r.messages = {user_message("q"), m, user_message("q2")};
  CHECK(unmarked(body(r)).find(raw) != std::string::npos);
  for (auto change : {0, 1}) {
    auto o = at_anthropic();
    (change == 0 ? o.model : o.base_url) += "x";
    const auto other = unmarked(body(r, o));
    CHECK_FALSE(has(other, "secret"));
    CHECK(has(other, R"({"role":"assistant","content":[{"type":"text","text":"hi"}]})"));
  }
}

TEST_CASE("anthropic, reasoning echo: no mark is put on thoughts or on what is not known") {
  for (const auto* last :
       {R"({"type":"thinking","thinking":"t","signature":"s"})", R"({"type":"hologram","id":"x"})"}) {
    const std::string raw = R"({"role":"assistant","content":[)" + std::string(last) + "]}";
    model_request r;
    r.messages = {user_message("q"), assistant_of("hi", {}, {"anthropic", "https://api.anthropic.com", "m"}, raw)};
    CHECK(has(body(r), raw));
    CHECK(marks(body(r)) == 1);
  }
}

TEST_CASE("anthropic, caching: a paused turn that is gone on with has its mark, on the provider's own tools") {
  const std::string raw =
      R"({"role":"assistant","content":[{"type":"server_tool_use","id":"s","name":"web_search","input":{}},)"
      R"({"type":"web_search_tool_result","tool_use_id":"s","content":[{"url":"u"}]}]})";
  model_request r;
  r.messages = {user_message("q"), assistant_of("", {}, {"anthropic", "https://api.anthropic.com", "m"}, raw)};
  CHECK(body(r).ends_with(R"("content":[{"url":"u"}],"cache_control":{"type":"ephemeral"}}]}]})"));
  CHECK(marks(body(r)) == 2);
  // One that takes none leaves its mark to the message before.
  r.messages = {user_message("one"), assistant_of("two", {}), user_message("three"),
                assistant_of("", {}, {"anthropic", "https://api.anthropic.com", "m"},
                             R"({"role":"assistant","content":[{"type":"redacted_thinking","data":"r"}]})")};
  CHECK(marks(body(r)) == 2);
  CHECK(has(body(r), R"("text":"two","cache_control")"));
}

TEST_CASE("anthropic: what the API refuses is not sent: empty texts, empty messages, foreign ids") {
  auto odd = call_of("call|1/x", "add", "{}");
  model_request r;
  r.messages = {user_message("q"), assistant_of("", {}), user_message(""), assistant_of("", {odd}),
                results_of({{"call|1/x", "add", raw_json::literal(R"({"content":[]})"), false}})};
  const auto b = unmarked(body(r));
  CHECK_FALSE(has(b, R"("content":[])"));
  CHECK_FALSE(has(b, R"("text":"")"));
  CHECK_FALSE(has(b, "call|1"));
  const auto at = b.find(R"("tool_use","id":")") + 17;
  const auto id = b.substr(at, b.find('"', at) - at);
  CHECK(id.starts_with("id_"));
  CHECK(has(b, R"({"type":"tool_result","tool_use_id":")" + id + "\"}"));
  tool_call_block unread{"a", "", "x", {}, "{\"p\": \"hel", "bad"};
  r.messages = {user_message("q"), assistant_of("", {unread})};
  CHECK(has(body(r), R"("input":{"unreadable_arguments":"{\"p\": \"hel"})"));
}

TEST_CASE("anthropic: texts of nothing but blanks, which the API refuses, are not sent, whoever said them") {
  model_request r;
  for (const std::string blank : {" ", "\n\n", "\t\r \n", "\xC2\xA0\xE3\x80\x80 "}) {
    CAPTURE(blank);
    const auto result = [&](bool error) {
      return result_of("a", "add", R"({"content":[{"type":"text","text":)" + json_quoted(blank) + "}]}", error);
    };
    r.messages = {system_message(blank), user_message("q"), assistant_of(blank, {call_of("a", "add", "{}")}),
                  results_of({result(false)}), assistant_of(blank, {})};
    CHECK(unmarked(body(r)).ends_with(
        R"("messages":[{"role":"user","content":[{"type":"text","text":"q"}]},)"
        R"({"role":"assistant","content":[{"type":"tool_use","id":"a","name":"add","input":{}}]},)"
        R"({"role":"user","content":[{"type":"tool_result","tool_use_id":"a"}]}]})"));
    CHECK_FALSE(has(body(r), R"("system")"));
    // An error may not be without content, and a question may not be missing: an answer would stand last.
    r.messages = {user_message("q"), assistant_of(blank, {call_of("a", "add", "{}")}), results_of({result(true)}),
                  assistant_of("said", {}), user_message(blank)};
    CHECK(has(body(r), R"("content":[{"type":"text","text":"The tool failed and did not say why."}],"is_error":true)"));
    CHECK(unmarked(body(r)).ends_with(R"({"role":"user","content":[{"type":"text","text":"[empty message]"}]}]})"));
  }
  r.messages = {user_message(" \n a \n")};
  CHECK(has(body(r), R"("text":" \n a \n")"));
}

TEST_CASE("anthropic: all system messages are in the one place the API has for them") {
  model_request r;
  r.messages = {system_message("one"), user_message("q"), system_message("two")};
  const auto b = unmarked(body(r));
  CHECK(has(b, R"("system":[{"type":"text","text":"one"},{"type":"text","text":"two"}],"messages":[{"role":"user")"));
  CHECK(b.ends_with(R"("text":"q"}]}]})"));
}

TEST_CASE("L6: anthropic: a note stands behind the cache mark of the last message") {
  model_request r;
  r.messages = {user_message("q")};
  r.note = "round 1";
  CHECK(body(r).ends_with(
      R"({"type":"text","text":"q","cache_control":{"type":"ephemeral"}},{"type":"text","text":"round 1"}]}]})"));
  r.messages.push_back(assistant_of("said", {}));
  CHECK_FALSE(has(body(r), "round 1"));
}

TEST_CASE("anthropic, images in results: text, images and documents go into the result, errors have their flag (F9)") {
  model_request r;
  r.messages = {results_of(
      {{"a", "shot",
        raw_json::literal(
            R"({"content":[{"type":"text","text":"see"},{"type":"image","mimeType":"image/png","data":"QQ=="},)"
            R"({"type":"resource","resource":{"uri":"file:///d/a.pdf","mimeType":"application/pdf","blob":"QUJD"}},)"
            R"({"type":"audio","mimeType":"audio/wav","data":"QUI="},{"type":"resource_link","name":"n","uri":"file:///c"}]})"),
        false},
       {"b", "shot", raw_json::literal(R"({"content":[{"type":"text","text":"no"}],"isError":true})"), true},
       {"c", "shot", raw_json::literal(R"({"content":[],"structuredContent":{"n":1}})"), false}})};
  CHECK(has(
      unmarked(body(r)),
      R"({"role":"user","content":[{"type":"tool_result","tool_use_id":"a","content":[{"type":"text","text":"see"},)"
      R"({"type":"image","source":{"type":"base64","media_type":"image/png","data":"QQ=="}},)"
      R"({"type":"text","text":"[resource file:///d/a.pdf, application/pdf]"},)"
      R"({"type":"document","source":{"type":"base64","media_type":"application/pdf","data":"QUJD"}},)"
      R"({"type":"text","text":"[audio, audio/wav, 2 bytes: left out]\n[resource link: n, file:///c]"}]},)"
      R"({"type":"tool_result","tool_use_id":"b","content":[{"type":"text","text":"no"}],"is_error":true},)"
      R"({"type":"tool_result","tool_use_id":"c","content":[{"type":"text","text":"{\"n\":1}"}]}]})"));
}

TEST_CASE("anthropic, images in: images and documents of a caller are blocks, what cannot be sent is said") {
  auto m = std::make_shared<message>();
  m->blocks.emplace_back(text_block{"see"});
  m->blocks.emplace_back(image_block{"image/png", "QQ==", ""});
  m->blocks.emplace_back(image_block{"", "", "https://x/y.png"});
  m->blocks.emplace_back(image_block{"image/tiff", "QQ==", ""});
  m->blocks.emplace_back(file_block{"application/pdf", "a.pdf", "QQ==", ""});
  m->blocks.emplace_back(file_block{"", "", "", "https://x/b.pdf"});
  m->blocks.emplace_back(file_block{"audio/wav", "a.wav", "QQ==", ""});
  model_request r;
  r.messages = {m};
  CHECK(has(unmarked(body(r)),
            R"({"role":"user","content":[{"type":"text","text":"see"},)"
            R"({"type":"image","source":{"type":"base64","media_type":"image/png","data":"QQ=="}},)"
            R"({"type":"image","source":{"type":"url","url":"https://x/y.png"}},)"
            R"({"type":"text","text":"[image, image/tiff, 1 bytes: left out]"},)"
            R"({"type":"document","source":{"type":"base64","media_type":"application/pdf","data":"QQ=="}},)"
            R"({"type":"document","source":{"type":"url","url":"https://x/b.pdf"}},)"
            R"({"type":"text","text":"[file a.wav, audio/wav, 1 bytes: left out]"}]})"));
}

TEST_CASE(
    "anthropic, structured output: a schema that the endpoint surely takes goes to it, others are checked by us") {
  model_request r;
  r.messages = {user_message("q")};
  const std::string_view schema =
      R"({"type":"object","properties":{"a":{"type":"string"}},"required":["a"],"additionalProperties":false})";
  r.answer_schema = raw_json::literal(schema);
  CHECK_FALSE(has(body(r), "output_config"));
  auto o = at_anthropic();
  o.answer_schema = true;
  CHECK(has(body(r, o), R"("output_config":{"format":{"type":"json_schema","schema":)" + std::string(schema) + "}}"));
  r.answer_schema = raw_json::literal(R"({"type":"array"})");
  CHECK_FALSE(has(body(r, o), "output_config"));
}

TEST_CASE("anthropic: switches for parallel calls and strict tools, and members that the configuration adds") {
  auto o = at_anthropic();
  o.parallel_tool_calls = false;
  o.strict = true;
  o.body = raw_json::literal(
      R"({"thinking":{"type":"adaptive"},"max_tokens":5,"messages":[],"system":"x","metadata":{"user_id":"u"}})");
  model_request r;
  r.messages = {user_message("q")};
  CHECK_FALSE(has(body(r, o), "tool_choice"));
  auto tools = two_tools();
  tools->tools.push_back(
      {"fits", "",
       raw_json::literal(R"({"type":"object","properties":{},"required":[],"additionalProperties":false})")});
  r.tools = tools;
  const auto b = body(r, o);
  CHECK(b.starts_with(
      R"({"model":"m","max_tokens":5,"stream":true,"tool_choice":{"type":"auto","disable_parallel_tool_use":true},)"
      R"("thinking":{"type":"adaptive"},"metadata":{"user_id":"u"},"tools":[)"));
  CHECK(has(b, R"("additionalProperties":false},"strict":true,"cache_control":{"type":"ephemeral"}}])"));
  CHECK(has(b, R"("messages":[{"role":"user")"));
}

TEST_CASE("F8: anthropic: strict is for schemas that fulfil its demands as they stand") {
  auto o = at_anthropic();
  o.strict = true;
  const auto strict = [&](std::string_view a, std::string_view more = "") {
    model_request r;
    r.messages = {user_message("q")};
    auto tools = std::make_shared<tool_set>();
    tools->tools.push_back(
        {"t", "",
         raw_json::own(R"({"type":"object","properties":{"a":)" + std::string(a) +
                       R"(},"required":["a"],"additionalProperties":false)" + std::string(more) + "}")});
    r.tools = tools;
    return has(body(r, o), R"("strict":true)");
  };
  CHECK(strict(R"({"type":"string","format":"date","enum":["x"]})"));
  CHECK(strict(R"({"type":"array","items":{"type":"integer"},"minItems":1})"));
  CHECK(strict(R"({"$ref":"#/$defs/x"})", R"(,"$defs":{"x":{"type":"string"}})"));
  for (const auto* refused : {R"({"type":"string","pattern":"^a$"})", R"({"type":"string","format":"color"})",
                              R"({"type":"string","default":"x"})", R"({"type":"integer","minimum":1})", "{}",
                              R"({"enum":["x"]})", R"({"type":"array","items":{}})", R"({"type":"array"})",
                              R"({"type":"array","items":{"type":"null"},"minItems":2})", R"({"$ref":"#"})"}) {
    CAPTURE(refused);
    CHECK_FALSE(strict(refused));
  }
  CHECK_FALSE(strict(R"({"$ref":"#/$defs/x","description":"d"})", R"(,"$defs":{"x":{"type":"string"}})"));
  CHECK_FALSE(strict(R"({"$ref":"#/$defs/x"})", R"(,"$defs":{"x":{"type":"array","items":{"$ref":"#/$defs/x"}}})"));
}

TEST_CASE("anthropic, stop sequences: they are sent, unless the model takes none") {
  model_request r;
  r.messages = {user_message("q")};
  r.settings.stop = {"\nObservation:", "\"END\""};
  CHECK(has(body(r), R"("stop_sequences":["\nObservation:","\"END\""])"));
  auto o = at_anthropic();
  o.stop_sequences = false;
  CHECK_FALSE(has(body(r, o), "stop_sequences"));
}

TEST_CASE(
    "anthropic, request settings: a limit that leaves no room beside a thinking budget is what comes on top of it") {
  model_request r;
  r.messages = {user_message("q")};
  auto o = at_anthropic();
  const auto budget = [&](std::string_view tokens) {
    o.body = raw_json::own(R"({"thinking":{"type":"enabled","budget_tokens":)" + std::string(tokens) + "}}");
  };
  budget("2000");
  CHECK(has(body(r, o), R"("max_tokens":16384,)"));
  r.settings.max_output_tokens = 77;
  CHECK(has(body(r, o), R"("max_tokens":2077,)"));
  r.settings.max_output_tokens = 2000;
  CHECK(has(body(r, o), R"("max_tokens":4000,)"));
  r.settings.max_output_tokens = 2001;
  CHECK(has(body(r, o), R"("max_tokens":2001,)"));
  r.settings.max_output_tokens = 0;
  budget("32000");
  CHECK(has(body(r, o), R"("max_tokens":48384,)"));
  budget("9223372036854775807");
  CHECK(has(body(r, o), R"("max_tokens":100016384,)"));
}

TEST_CASE("F1: anthropic: blank texts that a journal has in a message of the API do not go back, all else does") {
  const auto sent = [](const std::string& content, const std::string& text = "hi") {
    const auto m = assistant_of(text, {}, {"anthropic", "https://api.anthropic.com", "m"},
                                R"({"id": "x","role":"assistant","content":[)" + content + R"(],"more":1})");
    model_request r;
    r.messages = {user_message("q"), m, user_message("on"), user_message("and on")};
    const auto b = body(r);
    const auto begin = b.find(R"(,{"id": "x")");
    return begin == std::string::npos ? std::string()
                                      : b.substr(begin + 1, b.find(R"(,{"role":"user")", begin) - begin - 1);
  };
  const std::string thought = R"({"type":"thinking","thinking":"t","signature":"s\/"})",
                    empty = R"({"type":"text","text":""})", blank = R"({"type":"text", "text":" \n\u00a0"})",
                    said = R"({"type":"text","text":"hi", "x":[1]})";
  const auto whole = [](const std::string& content) {
    return R"({"id": "x","role":"assistant","content":[)" + content + R"(],"more":1})";
  };
  CHECK(sent(thought + ", " + said) == whole(thought + ", " + said));
  CHECK(sent(empty + "," + thought + ",\n" + blank + "," + said) == whole(thought + "," + said));
  CHECK(sent(said + "," + thought + "," + blank) == whole(said));
  CHECK(sent(said + "," + empty) == whole(said));
  CHECK(sent(blank + "," + empty).empty());
  const std::string cited = R"({"type":"text","text":"","citations":[{"type":"char_location"}]})";
  CHECK(sent(cited + "," + empty) == whole(cited));
}

}  // namespace anthropic_encode_tests

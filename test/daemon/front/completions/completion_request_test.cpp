// Requests of Chat Completions as run requests: everything that its clients send, and what is wrong by its place.
#include "daemon/front/completions/completion_request.hpp"

#include "test/daemon/front/dialect_defaults.hpp"

#include <doctest/doctest.h>

#include <string>
#include <variant>

using namespace mcpbx;
using namespace mcpbx::daemon::completions;
using namespace mcpbx::daemon::dialects;
using namespace mcpbx::daemon::stored;
using namespace mcpbx::json;

namespace {

std::expected<completion_request, request_fault> read(const std::string& json) {
  return read_completion(raw_json::own(json), test::some_defaults());
}

completion_request good(const std::string& members) {
  auto r = read("{" + members + "}");
  REQUIRE_MESSAGE(r.has_value(), (r ? "" : r.error().message));
  return std::move(*r);
}

// With one question as its messages.
completion_request asked(const std::string& more) {
  return good(R"("model":"gpt","messages":[{"role":"user","content":"hi"}])" + more);
}

const std::string tool =
    R"({"type":"function","function":{"name":"mine","description":"d","parameters":{"type":"object"},"strict":true}})";

}  // namespace

TEST_CASE("D2: a request is a run of its model or profile, which asks nobody anything") {
  const auto r = asked("");
  CHECK(r.model == "gpt");
  CHECK(r.run.model == "gpt");
  CHECK_FALSE(r.stream);
  CHECK(r.run.messages.size() == 1);
  CHECK(r.run.limits.approve == approval_mode::none);
  CHECK(r.run.limits.status == status_mode::off);
  const auto p = good(R"("model":"profile:short","stream":true,"messages":[{"role":"user","content":"hi"}])");
  CHECK(p.run.profile == "short");
  CHECK(p.run.model == "gpt");
  CHECK(p.run.limits.max_rounds == 2);
  CHECK(p.stream);
  CHECK(good(R"("messages":[{"role":"user","content":"hi"}])").run.model.empty());
}

TEST_CASE("D2: every role and every kind of content becomes ours, in its order") {
  const auto r = good(R"("messages":[
    {"role":"developer","content":"be brief"},
    {"role":"user","name":"me","content":[{"type":"text","text":"look"},
      {"type":"image_url","image_url":{"url":"data:image/png;base64,AAAA","detail":"low"}},
      {"type":"image_url","image_url":{"url":"https://x.example/a.png"}},
      {"type":"input_audio","input_audio":{"data":"BBBB","format":"mp3"}},
      {"type":"file","file":{"filename":"a.pdf","file_data":"data:application/pdf;base64,CCCC"}}]},
    {"role":"assistant","content":null,"tool_calls":[
      {"id":"c1","type":"function","function":{"name":"mine","arguments":"{\"n\": 1}"}},
      {"id":"c2","type":"function","function":{"name":"mine","arguments":""}}]},
    {"role":"tool","tool_call_id":"c2","content":"two"},
    {"role":"tool","tool_call_id":"c1","content":[{"type":"text","text":"one"}]},
    {"role":"assistant","content":"so","refusal":null},
    {"role":"user","content":"on"}])");
  const auto& m = r.run.messages;
  REQUIRE(m.size() == 6);
  CHECK(m[0]->role == providers::role::system);
  REQUIRE(m[1]->blocks.size() == 5);
  CHECK(std::get<providers::image_block>(m[1]->blocks[1]).mime == "image/png");
  CHECK(std::get<providers::image_block>(m[1]->blocks[1]).detail == "low");
  CHECK(std::get<providers::image_block>(m[1]->blocks[2]).url == "https://x.example/a.png");
  CHECK(std::get<providers::file_block>(m[1]->blocks[3]).mime == "audio/mpeg");
  CHECK(std::get<providers::file_block>(m[1]->blocks[4]).data == "CCCC");
  const auto calls = m[2]->calls();
  REQUIRE(calls.size() == 2);
  CHECK(calls[0]->arguments.text() == R"({"n": 1})");
  CHECK(calls[1]->arguments.text() == "{}");
  REQUIRE(m[3]->blocks.size() == 2);
  CHECK(m[3]->role == providers::role::tool_results);
  const auto& two = std::get<providers::tool_result_block>(m[3]->blocks[0]);
  CHECK(two.call_id == "c2");
  CHECK(two.name == "mine");
  CHECK(two.result.text() == R"({"content":[{"type":"text","text":"two"}]})");
  CHECK(m[4]->text() == "so");
}

TEST_CASE("D2: settings, tools and the choice of them are taken, null is as good as nothing") {
  auto r = asked(R"(,"temperature":0.2,"top_p":1e-1,"max_tokens":5,"max_completion_tokens":7,"stop":["a","b"],)"
                 R"("parallel_tool_calls":false,"reasoning_effort":"low","n":1,"seed":1,"user":"u","logit_bias":null)");
  CHECK(r.run.settings.temperature == "0.2");
  CHECK(r.run.settings.top_p == "1e-1");
  CHECK(r.run.settings.max_output_tokens == 7);
  CHECK(r.run.settings.stop == std::vector<std::string>{"a", "b"});
  CHECK(r.run.settings.parallel_tool_calls == false);
  CHECK(r.run.settings.reasoning_effort == "low");
  CHECK(asked(R"(,"stop":"x","temperature":null,"tools":null,"tool_choice":null,"stream":null)").run.settings.stop ==
        std::vector<std::string>{"x"});
  r = asked(R"(,"tools":[)" + tool + R"(,{"type":"function","function":{"name":"bare"}}],"tool_choice":"required")");
  REQUIRE(r.run.client_tools.size() == 2);
  CHECK(r.run.client_tools[0].text() ==
        R"({"name":"mine","description":"d","inputSchema":{"type":"object"},"strict":true})");
  CHECK(r.run.client_tools[1].text() == R"({"name":"bare","inputSchema":{"type":"object","properties":{}}})");
  CHECK(r.run.first_round == providers::tool_mode::required);
  CHECK(asked(R"(,"tool_choice":"none")").run.limits.max_rounds == 0);
  CHECK(asked(R"(,"tool_choice":"auto")").run.first_round == providers::tool_mode::automatic);
  r = asked(R"(,"tool_choice":{"type":"function","function":{"name":"mine"}})");
  CHECK(r.run.first_round == providers::tool_mode::required);
  CHECK(r.run.first_round_tool == "mine");
  r = asked(R"(,"tools":[)" + tool + R"(],"tool_choice":{"type":"allowed_tools","allowed_tools":{"mode":"auto",)" +
            R"("tools":[{"type":"function","function":{"name":"calc__calculate"}}]}})");
  CHECK(r.run.client_tools.empty());
  CHECK(r.run.tools.only == std::vector<std::string>{"calc__calculate"});
  CHECK(asked(R"(,"stream":true,"stream_options":{"include_usage":true})").include_usage);
  CHECK(asked(R"(,"response_format":{"type":"json_schema","json_schema":{"name":"n","strict":true,)"
              R"("schema":{"type":"object"}}})")
            .run.answer_schema.text() == R"({"type":"object"})");
  CHECK_FALSE(asked(R"(,"response_format":{"type":"text"})").run.answer_schema);
}

TEST_CASE("D2: what is wrong has a status, a sentence, its place and the code that clients know") {
  const auto wrong = [](const std::string& json) {
    const auto r = read(json);
    REQUIRE_FALSE(r.has_value());
    const auto& f = r.error();
    return std::to_string(f.status) + " " + f.param + (f.code.empty() ? "" : " (" + f.code + ")") + " | " + f.message;
  };
  const auto with = [&](const std::string& member) {
    return wrong(R"({"model":"gpt","messages":[{"role":"user","content":"hi"}],)" + member + "}");
  };
  const auto said = [&](const std::string& messages) { return wrong(R"({"messages":[)" + messages + "]}"); };
  CHECK(wrong("[]") == "400 body | body: expected a JSON object, got an array");
  CHECK(wrong("{}") == "400 messages | messages: expected an array of at least one message, got nothing");
  CHECK(wrong(R"({"messages":[]})").starts_with("400 messages |"));
  CHECK(wrong(R"({"model":"x","messages":[{"role":"user","content":"hi"}]})") ==
        "404 model (model_not_found) | model: no model is named \"x\"");
  CHECK(wrong(R"({"model":"profile:x","messages":[{"role":"user","content":"hi"}]})").starts_with("404 model"));
  CHECK(said(R"({"role":"boss","content":"x"})").starts_with("400 messages[0].role | messages[0].role: expected "));
  CHECK(said(R"({"role":"user"})") ==
        "400 messages[0].content | messages[0].content: expected a string or an array of parts, got nothing");
  CHECK(said(R"({"role":"user","content":[{"type":"video"}]})").starts_with("400 messages[0].content[0].type |"));
  CHECK(said(R"({"role":"user","content":[{"type":"image_url","image_url":{"url":"file:///etc/passwd"}}]})")
            .starts_with("400 messages[0].content[0].image_url.url |"));
  CHECK(said(R"({"role":"user","content":[{"type":"image_url","image_url":{"url":"data:image/png;base64,!!!"}}]})")
            .starts_with(
                "400 messages[0].content[0].image_url.url | messages[0].content[0].image_url.url: expected base64"));
  CHECK(said(R"({"role":"user","content":[{"type":"input_audio","input_audio":{"data":"x","format":"mp3"}}]})")
            .starts_with("400 messages[0].content[0].input_audio.data |"));
  CHECK(said(R"({"role":"user","content":[{"type":"file","file":{"file_data":"data:a/b;base64,AA"}}]})")
            .starts_with("400 messages[0].content[0].file.file_data |"));
  CHECK(said(R"({"role":"user","content":[{"type":"file","file":{"file_id":"f"}}]})")
            .starts_with("400 messages[0].content[0].file | "));
  CHECK(said(R"({"role":"tool","tool_call_id":"c","content":"x"})").starts_with("400 messages[0].tool_call_id |"));
  const std::string call =
      R"({"role":"assistant","tool_calls":[{"id":"c","type":"function","function":{"name":"f","arguments":"{}"}}]})";
  CHECK(said(call).starts_with("400 messages | messages: expected a message of role tool"));
  CHECK(said(call + R"(,{"role":"user","content":"x"})").starts_with("400 messages[1] |"));
  CHECK(said(call +
             R"(,{"role":"tool","tool_call_id":"c","content":"x"},{"role":"tool","tool_call_id":"c","content":"x"})")
            .starts_with("400 messages[2].tool_call_id |"));
  const std::string one = R"({"id":"c","type":"function","function":{"name":"f","arguments":"{}"}})";
  CHECK(said(R"({"role":"assistant","tool_calls":[)" + one + "," + one + "]}") ==
        "400 messages[0].tool_calls[1].id | messages[0].tool_calls[1].id: the id \"c\" is another call's already");
  // A long id does not come back whole.
  const std::string long_id(100'000, 'i');
  CHECK(said(R"({"role":"assistant","tool_calls":[{"id":")" + long_id +
             R"(","type":"function","function":{"name":"f","arguments":"{}"}}]})")
            .size() < 400);
  CHECK(with(R"("n":2)") == "400 n | n: expected 1, because a run of tools has one answer");
  CHECK(with(R"("temperature":9)") == "400 temperature | temperature: expected a number from 0 to 2, got 9");
  CHECK(with(R"("temperature":-0.1)").starts_with("400 temperature |"));
  CHECK(with(R"("temperature":1e999)").starts_with("400 temperature |"));
  CHECK(asked(R"(,"temperature":2.0,"top_p":0)").run.settings.temperature == "2.0");
  CHECK(with(R"("top_p":1.5)") == "400 top_p | top_p: expected a number from 0 to 1, got 1.5");
  CHECK(with(R"("temperature":"hot")") == "400 temperature | temperature: expected a number, got \"hot\"");
  CHECK(
      with(R"("reasoning_effort":"a lot")").starts_with("400 reasoning_effort | reasoning_effort: expected \"none\""));
  CHECK(with(R"("stream":1)") == "400 stream | stream: expected true or false, got 1");
  CHECK(with(R"("stop":["a","b","c","d","e"])") == "400 stop | stop: expected at most 4 texts, got 5");
  CHECK(with(R"("functions":[])") == "400 functions | functions: this is the older form; send tools");
  CHECK(with(R"("tools":[{"type":"function","function":{"name":"f","parameters":true}}])") ==
        "400 tools[0].function | tools[0].function: tool \"f\": inputSchema must be an object");
  CHECK(with(R"("tools":[{"type":"custom","custom":{}}])") ==
        "400 tools[0].type | tools[0].type: expected \"function\", got \"custom\"");
  CHECK(with("\"tools\":[" + tool + "," + tool + "]").starts_with("400 tools[1].function.name |"));
  CHECK(with(R"("tools":[{"type":"function","function":{"name":"mcpbx__x"}}])").starts_with("400 tools[0].function |"));
  CHECK(with(R"("tool_choice":"any")").starts_with("400 tool_choice | "));
  CHECK(with(R"("response_format":{"type":"xml"})").starts_with("400 response_format.type | response_format.type: "));
  CHECK(with(R"("response_format":{"type":"json_schema","json_schema":{"name":"n"}})")
            .starts_with("400 response_format.json_schema.schema | "));
}

TEST_CASE("L21: a conversation that comes back with results is known by model, tools and what was said before") {
  const std::string question = R"({"role":"user","content":"hi"})";
  const std::string tools = R"(,"tools":[)" + tool + "]";
  const auto first = good(R"("model":"gpt","messages":[)" + question + "]" + tools);
  CHECK(first.conversation != 0);
  CHECK(first.results.empty());
  const std::string back =
      R"(,{"role":"assistant","content":"x","tool_calls":[{"id":"c","type":"function","function":{"name":"mine","arguments":"{}"}}]},)"
      R"({"role":"tool","tool_call_id":"c","content":"r"})";
  const auto second = good(R"("model":"gpt","messages":[ )" + question + back + "]" + tools);
  CHECK(second.conversation_before == first.conversation);
  REQUIRE(second.results.size() == 1);
  CHECK(second.results[0].call_id == "c");
  const auto before = [&](const std::string& model, const std::string& asked_first, const std::string& with) {
    return good(R"("model":")" + model + R"(","messages":[)" + asked_first + back + "]" + with).conversation_before;
  };
  CHECK(before("gpt/other", question, tools) != first.conversation);
  CHECK(before("gpt", R"({"role":"user","content":"ho"})", tools) != first.conversation);
  CHECK(before("gpt", question, "") != first.conversation);
  // Another form of the answer is another conversation: the run that waits would answer in the first one.
  CHECK(before("gpt", question, tools + R"(,"response_format":{"type":"json_object"})") != first.conversation);
}

TEST_CASE("L21: results come back to the run that waits for them only where the request asks for what that run does") {
  const std::string question = R"({"role":"user","content":"hi"})";
  const std::string tools = R"(,"tools":[)" + tool + "]";
  const std::string back =
      R"(,{"role":"assistant","tool_calls":[{"id":"c","type":"function","function":{"name":"mine","arguments":"{}"}}]},)"
      R"({"role":"tool","tool_call_id":"c","content":"r"})";
  const auto goes_on = [&](const std::string& first, const std::string& second) {
    const auto one = good(R"("model":"gpt","messages":[)" + question + "]" + tools + first);
    const auto two = good(R"("model":"gpt","messages":[)" + question + back + "]" + tools + second);
    return two.results.size() == 1 && two.conversation_before == one.conversation;
  };
  const std::string settings = R"(,"temperature":0.1,"top_p":0.5,"max_tokens":100,"stop":["a"],)"
                               R"("reasoning_effort":"low","parallel_tool_calls":true)";
  CHECK(goes_on("", ""));
  CHECK(goes_on(settings, settings + R"(,"tool_choice":"auto","stream":true)"));
  for (const std::string other : {R"(,"temperature":0.9)", R"(,"top_p":0.9)", R"(,"max_tokens":7)", R"(,"stop":"Z")",
                                  R"(,"reasoning_effort":"low")", R"(,"parallel_tool_calls":false)"}) {
    CAPTURE(other);
    CHECK_FALSE(goes_on("", other));
    CHECK_FALSE(goes_on(other, ""));
    CHECK_FALSE(goes_on(settings, other));
  }
  CHECK_FALSE(goes_on(R"(,"stop":["a","b"])", R"(,"stop":["ab"])"));
  // A demand for the first round needs a new run.
  const std::string bound = R"(,"tool_choice":"required")";
  const std::string named = R"(,"tool_choice":{"type":"function","function":{"name":"mine"}})";
  CHECK(goes_on(bound, R"(,"tool_choice":"auto")"));
  CHECK(goes_on(named, ""));
  CHECK_FALSE(goes_on("", bound));
  CHECK_FALSE(goes_on(bound, bound));
  CHECK_FALSE(goes_on(named, named));
  CHECK_FALSE(goes_on("", R"(,"tool_choice":"none")"));
  const auto only = [](const std::string& names) {
    return R"(,"tool_choice":{"type":"allowed_tools","allowed_tools":{"mode":"auto","tools":[)" + names + "]}}";
  };
  const std::string mine = R"({"function":{"name":"mine"}})";
  CHECK(goes_on(only(mine), only(mine)));
  CHECK_FALSE(goes_on("", only(mine)));
  CHECK_FALSE(goes_on(only(mine), only(mine + R"(,{"function":{"name":"calc__calculate"}})")));
}

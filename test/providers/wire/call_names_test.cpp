// Names that a model made up: what they mean is what it wrote, and what is sent back is what APIs take.
#include "providers/model/names.hpp"
#include "test/providers/wire/apis.hpp"

#include <doctest/doctest.h>

#include <string>
#include <string_view>
#include <vector>

namespace {

using namespace mcpbx;
using namespace mcpbx::json;
using namespace mcpbx::providers;
using namespace mcpbx::test;

const std::vector<std::string> made_up{"multi_tool_use.parallel", "functions.t__ok", "no such tool!",
                                       std::string(100, 'x'),     "t__ok ",          "_ok"};
constexpr std::string_view apis[] = {"openai-chat", "azure",  "dial",  "openai-responses",
                                     "anthropic",   "gemini", "ollama"};

// An answer in which the model thinks and calls `name`.
std::string transcript(std::string_view api, const std::string& name) {
  const auto quoted = json_quoted(name);
  const auto event = [](std::string_view type, std::string_view members) {
    return "event: " + std::string(type) + "\ndata: {\"type\":\"" + std::string(type) + "\"" + std::string(members) +
           "}\n\n";
  };
  if (api == "anthropic")
    return event("message_start", R"(,"message":{"role":"assistant","content":[]})") +
           event("content_block_start",
                 R"(,"index":0,"content_block":{"type":"thinking","thinking":"hm","signature":"kept thought"})") +
           event("content_block_stop", R"(,"index":0)") +
           event("content_block_start",
                 R"(,"index":1,"content_block":{"type":"tool_use","id":"a","name":)" + quoted + R"(,"input":{}})") +
           event("content_block_stop", R"(,"index":1)") +
           event("message_delta", R"(,"delta":{"stop_reason":"tool_use"})") + event("message_stop", "");
  if (api == "openai-responses")
    return event("response.completed",
                 R"(,"response":{"status":"completed","output":[{"type":"reasoning","id":"r","summary":[],)"
                 R"("encrypted_content":"kept thought"},{"type":"function_call","id":"f","call_id":"a","name":)" +
                     quoted + R"(,"arguments":"{}","status":"completed"}]})");
  if (api == "gemini")
    return R"(data: {"candidates":[{"content":{"role":"model","parts":[{"functionCall":{"args":{},"name":)" + quoted +
           R"(},"thoughtSignature":"kept thought"}]},"finishReason":"STOP"}]})"
           "\n\n";
  if (api == "ollama")
    return R"({"message":{"role":"assistant","content":"","thinking":"kept thought","tool_calls":[{"function":{"name":)" +
           quoted +
           R"(,"arguments":{}}}]},"done":true,"done_reason":"stop"})"
           "\n";
  return stream(
      {delta(R"({"reasoning_details":[{"type":"x","text":"kept thought"}]})"),
       calls(R"([{"index":0,"id":"a","type":"function","function":{"name":)" + quoted + R"(,"arguments":"{}"}}])"),
       finish("tool_calls")});
}

model_request going_on(message_ptr m) {
  const auto* call = m->calls().at(0);
  model_request r;
  r.tools = tools_of({{"t__ok", "d", {}}});
  r.messages = {user_message("q"), m,
                results_of({result_of(call->id, call->name, R"({"content":[{"type":"text","text":"none"}]})", true)})};
  return r;
}

TEST_CASE("F8: a call of a name that no API takes goes back under one that all take, with the thoughts beside it") {
  for (const auto api : apis)
    for (const auto& name : made_up) {
      CAPTURE(api);
      CAPTURE(name);
      const auto d = decode_as(api, transcript(api, name));
      REQUIRE(d.calls() == 1);
      CHECK(d.call(0).name == name);
      auto m = std::make_shared<message>(*d.reply->message);
      m->origin = {std::string(api), options().base_url, options().model};
      for (const auto to : apis) {
        CAPTURE(to);
        const auto body = body_as(to, going_on(m));
        CHECK(body.find(json_quoted(name)) == std::string::npos);
        CHECK(body.find(json_quoted(fitting_name(name))) != std::string::npos);
        if (to == api) CHECK(body.find("kept thought") != std::string::npos);
      }
    }
}

TEST_CASE(
    "F8: a name behind a namespace that models put tools into is the tool's, where it is one and no other is meant") {
  for (const auto api : apis)
    for (const std::string space : {"functions.", "default_api.", "tools."}) {
      CAPTURE(api);
      CAPTURE(space);
      model_request r;
      const auto called = [&](std::string_view name) {
        const auto d =
            decode_as(api, transcript(api, space + std::string(name)), std::string_view::npos, options(), &r);
        REQUIRE(d.calls() == 1);
        if (d.call(0).name == name) {
          CHECK(d.reply->message->raw.text().find(space) == std::string_view::npos);
          for (const auto to : apis) {
            const auto body = body_as(to, going_on(d.reply->message));
            CHECK(body.find(json_quoted(name)) != std::string::npos);
            CHECK(body.find(fitting_name(space + std::string(name))) == std::string::npos);
            if (to == api) CHECK(body.find("kept thought") != std::string::npos);
          }
        }
        return d.call(0).name;
      };
      CHECK(called("t__ok") == space + "t__ok");  // no tools are offered
      r.tools = tools_of({{"t__ok", "", {}}});
      CHECK(called("t__ok") == "t__ok");
      CHECK(called("other") == space + "other");
      CHECK(called(space + "t__ok") == space + space + "t__ok");
      r.tools = tools_of({{"t__ok", "", {}}, {model_name(space + "t__ok"), "", {}}});
      CHECK(called("t__ok") == space + "t__ok");
    }
}

TEST_CASE("G29 F8: a call without a name is told to the model, and goes back under a name that all APIs take") {
  for (const auto api : apis)
    for (const bool there : {true, false}) {
      CAPTURE(api);
      CAPTURE(there);
      auto sent = transcript(api, "");
      constexpr std::string_view empty = R"("name":"")";
      const auto at = sent.find(empty);
      REQUIRE(at != std::string::npos);
      if (!there) sent.replace(at, empty.size(), R"("nome":"")");
      const auto d = decode_as(api, sent);
      REQUIRE(d.calls() == 1);
      CHECK(d.reply->reason == end_reason::tool_calls);
      CHECK(d.call(0).name == nameless_call);
      CHECK(d.call(0).problem == "The call had no name, so no tool was run. Call the tool again, by its name.");
      CHECK(d.call(0).arguments_text == "{}");
      auto m = std::make_shared<message>(*d.reply->message);
      m->origin = {std::string(api), options().base_url, options().model};
      for (const auto to : apis) {
        CAPTURE(to);
        const auto body = body_as(to, going_on(m));
        CHECK(body.find(empty) == std::string::npos);
        CHECK(body.find(json_quoted(nameless_call)) != std::string::npos);
        if (to == api) CHECK(body.find("kept thought") != std::string::npos);
      }
    }
}

TEST_CASE("F8: what an earlier version kept of a call of a name that no API takes is not sent as it came") {
  for (const auto api : apis) {
    CAPTURE(api);
    const std::string name = "functions.t__ok";
    auto m = std::make_shared<message>();
    m->role = role::assistant;
    m->blocks.emplace_back(call_of("a", name, "{}"));
    m->origin = {std::string(api), options().base_url, options().model};
    m->raw = raw_json::own(R"({"raw":{"name":")" + name + "\"}}");
    const auto body = body_as(api, going_on(m));
    CHECK(body.find(json_quoted(name)) == std::string::npos);
    CHECK(body.find(json_quoted(fitting_name(name))) != std::string::npos);
  }
}

}  // namespace

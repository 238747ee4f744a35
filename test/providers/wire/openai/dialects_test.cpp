// Tests of the differences between servers of the chat API: the switches, their presets by address, the deployments of
// Azure and DIAL.
#include "providers/wire/openai/dialects.hpp"

#include "providers/wire/registry/registry.hpp"
#include "test/providers/wire/apis.hpp"

namespace dialects_tests {

using namespace mcpbx;
using namespace mcpbx::json;
using namespace mcpbx::providers;
using namespace mcpbx::providers::openai;
using namespace mcpbx::providers::registry;
using namespace mcpbx::providers::wire;
using namespace mcpbx::test;

wire_options at(std::string base, std::string_view api = "openai-chat") {
  wire_options o;
  o.model = "m";
  o.base_url = std::move(base);
  apply_dialect(api, o);
  return o;
}

TEST_CASE("F1: openai-chat: presets go by the host of the address") {
  CHECK(at("https://api.openai.com/v1").max_tokens_field == "max_completion_tokens");
  CHECK(at("https://API.openai.com.evil.example/v1").max_tokens_field == "max_tokens");
  CHECK(at("https://eu.api.openai.com:443/v1").null_content);
  CHECK(at("https://r.openai.azure.com/openai/v1").answer_schema);
  CHECK(at("https://notapi.mistral.ai/v1").short_call_ids == false);
  CHECK(at("https://api.mistral.ai/v1").short_call_ids);
  CHECK_FALSE(at("https://api.mistral.ai/v1").user_after_tool);
  CHECK(at("https://api.openai.com/v1").user_after_tool);
  CHECK_FALSE(at("https://api.mistral.ai/v1").stream_options);
  CHECK(at("https://api.mistral.ai/v1").echo_reasoning == "none");
  CHECK(at("https://codestral.mistral.ai/v1").short_call_ids);
  CHECK(at("https://api.groq.com/openai/v1").echo_reasoning == "none");
  CHECK(at("https://api.cerebras.ai/v1").echo_reasoning == "none");
  CHECK(at("https://x.example", "azure").max_tokens_field == "max_completion_tokens");
  CHECK_FALSE(at("https://x.example", "dial").stream_options);
}

TEST_CASE("F1: openai-responses: an answer's schema goes to OpenAI and Azure, whose hosts have regions") {
  for (const auto* base :
       {"https://api.openai.com/v1", "https://eu.api.openai.com/v1", "https://r.openai.azure.com/openai/v1"})
    CHECK(at(base, "openai-responses").answer_schema);
  for (const auto* base : {"https://api.openai.com.example/v1", "https://notopenai.azure.com/v1",
                           "http://127.0.0.1:8000/v1", "https://openrouter.ai/api/v1"})
    CHECK_FALSE(at(base, "openai-responses").answer_schema);
}

TEST_CASE("F1: servers that follow the usual form need no preset: what the default says is right for them") {
  for (const auto* base : {"https://openrouter.ai/api/v1", "https://generativelanguage.googleapis.com/v1beta/openai",
                           "https://api.fireworks.ai/inference/v1", "https://dashscope.aliyuncs.com/compatible-mode/v1",
                           "https://dashscope-intl.aliyuncs.com/compatible-mode/v1", "https://api.deepseek.com",
                           "http://127.0.0.1:1234/v1", "http://127.0.0.1:11434/v1", "http://127.0.0.1:8000/v1",
                           "http://127.0.0.1:8080/v1"}) {
    CAPTURE(base);
    const auto o = at(base);
    CHECK(o.max_tokens_field == "max_tokens");
    CHECK_FALSE(o.null_content);    // LM Studio and Ollama refuse null, Bedrock behind OpenRouter a missing member
    CHECK_FALSE(o.answer_schema);   // a model behind them may not take one
    CHECK_FALSE(o.short_call_ids);  // no template of theirs is known to want another form
    CHECK(o.stream_options);        // none of them is known to refuse it
    CHECK(o.echo_reasoning ==
          "auto");  // OpenRouter's reasoning_details and DeepSeek's reasoning_content are wanted back
  }
}

TEST_CASE("F1: azure: the deployment's address with its API version, and what people configure instead") {
  const auto url = [](std::string base, std::string version = "", std::string model = "gpt-4o",
                      std::string_view api = "azure") {
    auto o = at(std::move(base), api);
    o.model = std::move(model);
    o.api_version = std::move(version);
    return find_codec(api)->encode({}, o).url;
  };
  CHECK(url("https://r.openai.azure.com") ==
        "https://r.openai.azure.com/openai/deployments/gpt-4o/chat/completions?api-version=2024-10-21");
  CHECK(url("https://r.openai.azure.com/openai/", "2025-01-01-preview") ==
        "https://r.openai.azure.com/openai/deployments/gpt-4o/chat/completions?api-version=2025-01-01-preview");
  CHECK(url("https://r.openai.azure.com/openai/deployments/other?api-version=2024-06-01") ==
        "https://r.openai.azure.com/openai/deployments/other/chat/completions?api-version=2024-06-01");
  CHECK(url("https://r.openai.azure.com/openai/v1") == "https://r.openai.azure.com/openai/v1/chat/completions");
  CHECK(url("https://dial.example/core?x=1", "", "apps/my bot/v1", "dial") ==
        "https://dial.example/core/openai/deployments/apps/my%20bot/v1/chat/completions?x=1&api-version=2024-10-21");
}

TEST_CASE("azure, streaming: filter results before the first choice and empty names are no matter") {
  const auto t =
      stream({R"({"choices":[],"id":"","model":"","prompt_filter_results":[{"prompt_index":0}]})",
              R"({"choices":[{"index":0,"delta":{"content":"hi"},"content_filter_results":{}}]})", finish("stop")});
  check_splits("azure", t);
  const auto d = decode_as("azure", t);
  CHECK(d.text() == "hi");
  CHECK(d.reply->message->origin.api == "azure");
  model_request r;
  r.messages = {user_message("q"), d.reply->message};
  CHECK(body_as("azure", r).find(R"({"role":"assistant","content":"hi"})") != std::string::npos);
}

TEST_CASE("dial, reasoning echo: custom content is put together from its deltas and goes back to its origin only") {
  const auto t = stream(
      {delta(R"({"role":"assistant","custom_content":{"stages":[{"index":0,"name":"Search"}]}})"),
       delta(R"({"custom_content":{"stages":[{"index":0,"content":"look"},{"index":1,"name":"Read","content":"x"}]}})"),
       delta(
           R"({"content":"Found","custom_content":{"stages":[{"index":0,"content":"ing","status":"completed","attachments":[{"index":0,"url":"u"}]}]}})"),
       delta(R"({"custom_content":{"attachments":[{"index":0,"title":"T"}],"state":{"n":1}}})"), finish("stop")});
  check_splits("dial", t);
  const auto d = decode_as("dial", t);
  REQUIRE(d.reply);
  const std::string kept =
      R"("custom_content":{"stages":[{"name":"Search","content":"looking","status":"completed","attachments":[{"url":"u"}]},{"name":"Read","content":"x"}],"attachments":[{"title":"T"}],"state":{"n":1}})";
  CHECK(d.reply->message->raw.text() == R"({"role":"assistant","content":"Found",)" + kept + "}");
  model_request r;
  r.messages = {user_message("q"), d.reply->message};
  CHECK(body_as("dial", r).find(kept) != std::string::npos);
  CHECK(body_as("openai-chat", r).find("custom_content") == std::string::npos);
}

TEST_CASE("F1: openai-chat: ids of nine letters and digits, the same in calls and results") {
  auto o = options();
  o.short_call_ids = true;
  CHECK(dialect_id("aB3dE6gH9", o) == "aB3dE6gH9");
  const auto made = dialect_id("call_1764000000123", o);
  CHECK(made.size() == 9);
  CHECK(made == dialect_id("call_1764000000123", o));
  CHECK(made != dialect_id("call_1764000000124", o));
  CHECK(dialect_id(made, o) == made);
  CHECK(dialect_id("call_1764000000123", options()) == "call_1764000000123");
  const auto d =
      decode_as("openai-chat",
                stream({calls(R"([{"index":0,"id":"1764000000123","function":{"name":"x","arguments":"{}"}}])"),
                        finish("tool_calls")}),
                std::string_view::npos, o);
  REQUIRE(d.calls() == 1);
  CHECK(d.call(0).id == "1764000000123");
  const auto id = dialect_id("1764000000123", o);
  CHECK(d.reply->message->raw.text().find(R"("tool_calls":[{"id":")" + id) != std::string_view::npos);
  model_request r;
  r.messages = {d.reply->message, results_of({result_of("1764000000123", "x", "{}")}),
                assistant_of("", {call_of("other-call", "x", "{}")}), results_of({result_of("other-call", "x", "{}")})};
  const auto body = body_as("openai-chat", r, o);
  CHECK(body.find(R"("tool_call_id":")" + id) != std::string::npos);
  CHECK(body.find("1764000000123") == std::string::npos);
  CHECK(body.find("other-call") == std::string::npos);
}

TEST_CASE("F1: openai-chat: the switches for tools are sent with tools only") {
  model_request r;
  r.messages = {user_message("q")};
  auto o = options();
  o.parallel_tool_calls = false;
  o.strict = true;
  CHECK(body_as("openai-chat", r, o).find("parallel_tool_calls") == std::string::npos);
  const auto strict = raw_json::literal(
      R"({"type":"object","properties":{"a":{"type":["string","null"]}},"required":["a"],"additionalProperties":false})");
  r.tools = tools_of(
      {{"strict", "", strict}, {"loose", "", raw_json::literal(R"({"type":"object","properties":{"a":{}}})")}});
  const auto body = body_as("openai-chat", r, o);
  CHECK(body.find(R"("parallel_tool_calls":false)") != std::string::npos);
  CHECK(body.find(R"("additionalProperties":false},"strict":true}})") != std::string::npos);
  CHECK(body.find(R"("properties":{"a":{}}}}}])") != std::string::npos);
  o.strict = false;
  CHECK(body_as("openai-chat", r, o).find(R"("properties":{"a":{}}},"strict":false}}])") != std::string::npos);
}

TEST_CASE("F8: a tool whose caller wants it strict is so where the API has that and its schema is fit for it") {
  model_request r;
  r.messages = {user_message("q")};
  const auto fits =
      raw_json::literal(R"({"type":"object","properties":{},"required":[],"additionalProperties":false})");
  const auto sent = [&](std::string_view api, const wire_options& o, const raw_json& schema) {
    providers::tool_definition t{"t", "", schema};
    t.strict = true;
    r.tools = tools_of({t});
    const auto body = body_as(api, r, o);
    return body.find(R"("strict":true)") != std::string::npos    ? std::string("true")
           : body.find(R"("strict":false)") != std::string::npos ? std::string("false")
                                                                 : std::string();
  };
  const auto at = [](std::string_view api, std::string url = "") {
    auto o = options();
    if (!url.empty()) o.base_url = std::move(url);
    apply_dialect(api, o);
    return o;
  };
  const auto loose = raw_json::literal(R"({"type":"object"})");
  for (const std::string_view api : {"openai-chat", "openai-responses", "anthropic"}) {
    CAPTURE(api);
    const auto own = at(api, std::string(find_api(api)->base_url));
    CHECK(sent(api, own, fits) == "true");
    CHECK(sent(api, own, loose) == (api == "openai-responses" ? "false" : ""));
  }
  CHECK(sent("azure", at("azure"), fits) == "true");
  // Servers that may not know the member do not get it, unless the configuration says so.
  for (const std::string_view api : {"openai-chat", "anthropic", "dial", "gemini", "ollama"}) {
    CAPTURE(api);
    CHECK(sent(api, at(api, "http://127.0.0.1:8080/v1"), fits).empty());
  }
  auto configured = at("openai-chat", "http://127.0.0.1:8080/v1");
  configured.strict = false;
  CHECK(sent("openai-chat", configured, fits) == "true");
  CHECK(sent("openai-chat", configured, loose) == "false");
}

TEST_CASE("F8: openai-chat: strict is for schemas that fulfil its demands as they stand") {
  const auto strict = [](std::string_view properties, std::string_view more = "") {
    model_request r;
    r.messages = {user_message("q")};
    r.tools =
        tools_of({{"t", "",
                   raw_json::own(R"({"type":"object","properties":{"a":)" + std::string(properties) +
                                 R"(},"required":["a"],"additionalProperties":false)" + std::string(more) + "}")}});
    auto o = options();
    o.strict = true;
    return body_as("openai-chat", r, o).find(R"("strict":true)") != std::string::npos;
  };
  CHECK(strict(R"({"type":"array","items":{"type":"string"}})"));
  CHECK(strict(R"({"anyOf":[{"$ref":"#/$defs/x"},{"type":"null"}]})", R"(,"$defs":{"x":{"type":"string"}})"));
  CHECK_FALSE(strict(R"({"type":"object","properties":{}})"));
  CHECK_FALSE(strict(R"({"type":"object","properties":{"b":{}},"additionalProperties":false})"));
  CHECK_FALSE(strict(R"({"allOf":[]})"));
  CHECK_FALSE(strict(R"({"type":"string"})", R"(,"anyOf":[])"));
  CHECK_FALSE(strict(R"({"type":"array","items":{"type":"string"},"uniqueItems":true})"));
  CHECK(strict(R"({"type":"array","items":{"$ref":"#/$defs/x"}})",
               R"(,"$defs":{"x":{"type":["array","null"],"items":{"$ref":"#/$defs/x"}}})"));
  CHECK(strict(R"({"type":"string","pattern":"^(?:a|\\d)$","format":"uuid","title":"T","description":"d"})"));
  CHECK(strict(R"({"type":"integer","minimum":1,"exclusiveMaximum":9,"multipleOf":2})"));
  for (const auto* refused :
       {R"j({"type":"string","pattern":"^a(?=b)"})j", R"j({"type":"string","pattern":"(a)\\1"})j",
        R"({"type":"string","format":"color"})", R"({"type":"string","default":"x"})", R"({"type":"string","x-own":1})",
        "{}", R"({"const":1})", R"({"type":"array","items":{}})", R"({"type":["array","null"]})",
        R"({"anyOf":[{"type":"string"},{}]})", R"({"anyOf":[]})"}) {
    CAPTURE(refused);
    CHECK_FALSE(strict(refused));
  }
  CHECK_FALSE(strict(R"({"$ref":"#/$defs/x","description":"d"})", R"(,"$defs":{"x":{"type":"string"}})"));
}

TEST_CASE("openai-chat, stop sequences: they are sent but to models that refuse them") {
  model_request r;
  r.messages = {user_message("q")};
  r.settings.stop = {"\nObservation:", "END"};
  CHECK(body_as("openai-chat", r).find(R"("stop":["\nObservation:","END"])") != std::string::npos);
  for (const auto* model : {"o1", "o3-mini", "o4-mini", "gpt-5-nano", "openai/o3", "openai/gpt-5"}) {
    auto o = options();
    o.base_url = "https://openrouter.ai/api/v1";
    o.model = model;
    apply_dialect("openai-chat", o);
    CHECK(body_as("openai-chat", r, o).find("\"stop\"") == std::string::npos);
  }
  auto other = options();
  other.model = "olmo-2";
  apply_dialect("openai-chat", other);
  CHECK(other.stop_sequences);
}

TEST_CASE("openai-chat, reasoning echo: as it came, not at all, or under the member that is configured") {
  const auto t =
      stream({delta(R"({"reasoning":"hm","custom_content":{"a":1}})"), delta(R"({"content":"ok"})"), finish("stop")});
  const auto raw = [&](std::string how) {
    auto o = options();
    o.echo_reasoning = std::move(how);
    return std::string(decode_as("openai-chat", t, std::string_view::npos, o).reply->message->raw.text());
  };
  CHECK(raw("auto") == R"({"role":"assistant","content":"ok","reasoning":"hm","custom_content":{"a":1}})");
  CHECK(raw("none") == R"({"role":"assistant","content":"ok","custom_content":{"a":1}})");
  CHECK(raw("reasoning_content") ==
        R"({"role":"assistant","content":"ok","custom_content":{"a":1},"reasoning_content":"hm"})");
  // That is what the next request holds, for the same model; another one gets the words only.
  model_request r;
  r.messages = {user_message("q"), decode_as("openai-chat", t).reply->message, user_message("q2")};
  CHECK(body_as("openai-chat", r).find(raw("auto")) != std::string::npos);
  auto other = options();
  other.model = "another";
  CHECK(body_as("openai-chat", r, other).find(R"({"role":"assistant","content":"ok"},)") != std::string::npos);
}

TEST_CASE("F1: openai-chat: the developer role, and members of the body that win over ours or take them out") {
  auto o = options();
  o.developer_role = true;
  o.temperature = "1";
  o.body = raw_json::literal(
      R"({"temperature":null,"stream_options":{"include_obfuscation":false},"reasoning_effort":"low","messages":[]})");
  model_request r;
  r.messages = {system_message("s"), user_message("q")};
  CHECK(
      body_as("openai-chat", r, o) ==
      R"({"model":"m","stream":true,"stream_options":{"include_usage":true,"include_obfuscation":false},"reasoning_effort":"low","messages":[{"role":"developer","content":"s"},{"role":"user","content":"q"}]})");
}

TEST_CASE("openai-chat, errors: what Groq's models wrote in place of a call is kept") {
  const std::string body =
      R"({"error":{"message":"Failed to call a function.","type":"invalid_request_error","code":"tool_use_failed","failed_generation":"<function=x{\"a\":1}</function>"}})";
  const auto e = find_codec("openai-chat")->decode_error(400, body, options());
  CHECK(e.failed_generation == "<function=x{\"a\":1}</function>");
  CHECK(e.type == model_error::kind::refused);
  const auto in_stream = decode_as("openai-chat", "event: error\ndata: " + body + "\n\n");
  REQUIRE(in_stream.error);
  CHECK(in_stream.error->failed_generation == e.failed_generation);
}

TEST_CASE("openai-chat, streaming: usage that Groq sends beside is counted") {
  const auto d = decode_as(
      "openai-chat",
      stream(
          {delta(R"({"content":"a"})"),
           R"({"choices":[{"index":0,"delta":{},"finish_reason":"stop"}],"x_groq":{"id":"r","usage":{"prompt_tokens":3,"completion_tokens":2}}})"}));
  CHECK(d.reply->usage.input == 3);
  CHECK_FALSE(d.reply->usage.estimated);
}

}  // namespace dialects_tests

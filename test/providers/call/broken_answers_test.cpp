// The list of G28: answers that are broken in one way each, from the connection up to the last event, in the
// shapes of every API. None of them is a success, and none is silent.
#include "providers/call/chat_model.hpp"
#include "test/fixtures/model/http_peer.hpp"
#include "test/mcp/http/client/client_harness.hpp"
#include "test/support/manual_time.hpp"

#include <doctest/doctest.h>

#include <memory>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <vector>

namespace broken_answers {

using namespace mcpbx;
using namespace mcpbx::json;
using namespace mcpbx::providers;
using namespace mcpbx::providers::call;
using namespace mcpbx::test;
using kind = model_error::kind;

enum class then { close, reset, stay };

struct fault {
  std::string_view name, api;
  std::string bytes;  // all that is sent
  then end;
  kind type;
  std::string_view partial;  // of the text that had come
  std::string_view says;     // a piece of the sentence: the stage, or what was wrong
};

constexpr std::string_view events = "text/event-stream";

std::string head(std::string_view type, std::string_view more = "") {
  return "HTTP/1.1 200 OK\r\nContent-Type: " + std::string(type) + "\r\n" + std::string(more) + "\r\n";
}
std::string chunked_head(std::string_view type, std::string_view more = "") {
  return head(type, "Transfer-Encoding: chunked\r\n" + std::string(more));
}
std::string chunk(std::string_view data) {
  constexpr std::string_view digits = "0123456789abcdef";
  std::string size;
  for (auto n = data.size(); n != 0; n /= 16) size.insert(0, 1, digits[n % 16]);
  return size + "\r\n" + std::string(data) + "\r\n";
}
// An answer that is whole as far as HTTP goes.
std::string answer(std::string_view body, std::string_view type = events) {
  return chunked_head(type) + (body.empty() ? "" : chunk(body)) + "0\r\n\r\n";
}
std::string sse(std::string_view json) {
  return "data: " + std::string(json) + "\n\n";
}
std::string event(std::string_view name, std::string_view json) {
  return "event: " + std::string(name) + "\n" + sse(json);
}
std::string choice(std::string_view delta, std::string_view more = "") {
  return sse(R"({"choices":[{"index":0,"delta":)" + std::string(delta) + std::string(more) + "}]}");
}

const std::string hello = choice(R"({"role":"assistant","content":"Hello"})");
const std::string call_begins =
    choice(R"({"tool_calls":[{"index":0,"id":"c","type":"function","function":{"name":"echo","arguments":"{\"te"}}]})");
const std::string call_whole =
    choice(R"({"tool_calls":[{"index":0,"id":"c","type":"function","function":{"name":"echo","arguments":"{}"}}]})");

std::vector<fault> of_connection() {
  return {
      {"closed without a byte", "openai-chat", "", then::close, kind::connection, "", "waiting for the answer"},
      {"reset without a byte", "openai-chat", "", then::reset, kind::connection, "", "waiting for the answer"},
      {"silent", "openai-chat", "", then::stay, kind::time_limit, "", "waiting for the answer"},
      {"half a status line", "openai-chat", "HTTP/1.1 2", then::close, kind::cut, "", "reading the answer"},
      {"half of the headers", "openai-chat", "HTTP/1.1 200 OK\r\nContent-Ty", then::close, kind::cut, "",
       "reading the answer"},
      {"silent in the headers", "openai-chat", "HTTP/1.1 200 OK\r\nContent-Ty", then::stay, kind::time_limit, "", ""},
      {"no HTTP", "openai-chat", "SSH-2.0-OpenSSH_9.2\r\n", then::close, kind::garbage, "", "not HTTP"},
      {"a status that is none", "openai-chat", "HTTP/1.1 abc OK\r\n\r\n", then::close, kind::garbage, "", ""},
      {"headers without end", "openai-chat", "HTTP/1.1 200 OK\r\nX: " + std::string(300'000, 'x') + "\r\n\r\n",
       then::close, kind::garbage, "", ""},
      {"a redirect", "openai-chat", "HTTP/1.1 302 Found\r\nLocation: http://127.0.0.1:1/\r\nContent-Length: 0\r\n\r\n",
       then::close, kind::refused, "", "Redirects are not followed"},
      {"no content", "openai-chat", "HTTP/1.1 204 No Content\r\n\r\n", then::close, kind::cut, "", "empty answer"},
      {"shorter than its length", "openai-chat", head(events, "Content-Length: 5000\r\n") + hello, then::close,
       kind::cut, "Hello", "reading the answer"},
      {"reset inside of its length", "openai-chat", head(events, "Content-Length: 5000\r\n") + hello, then::reset,
       kind::cut, "", "reading the answer"},
      {"cut inside of a chunk", "openai-chat", chunked_head(events) + chunk(hello) + "fff\r\ndata: {\"ch", then::close,
       kind::cut, "Hello", "reading the answer"},
      {"cut between chunks", "openai-chat", chunked_head(events) + chunk(hello), then::close, kind::cut, "Hello",
       "reading the answer"},
      {"a chunk's size that is none", "openai-chat", chunked_head(events) + chunk(hello) + "xyz\r\n", then::close,
       kind::garbage, "Hello", "reading the answer"},
      {"silent after the head", "openai-chat", chunked_head(events), then::stay, kind::time_limit, "",
       "reading the answer"},
      {"silent in the stream", "openai-chat", chunked_head(events) + chunk(hello), then::stay, kind::time_limit,
       "Hello", "reading the answer"},
      {"an end by the connection's only", "openai-chat", head(events) + hello, then::close, kind::cut, "Hello", ""},
      {"packed, and cut", "openai-chat", chunked_head(events, "Content-Encoding: gzip\r\n") + chunk("\x1f\x8b\x08"),
       then::close, kind::cut, "", "reading the answer"},
      {"packed, and no gzip", "openai-chat",
       chunked_head(events, "Content-Encoding: gzip\r\n") + chunk("Hello") + "0\r\n\r\n", then::close, kind::garbage,
       "", "reading the answer"},
      {"packed as nobody asked", "openai-chat",
       chunked_head(events, "Content-Encoding: br\r\n") + chunk("Hello") + "0\r\n\r\n", then::close, kind::garbage, "",
       ""},
  };
}

std::vector<fault> of_chat() {
  const std::string_view api = "openai-chat";
  return {
      {"an empty body", api, answer(""), then::close, kind::cut, "", "empty answer"},
      {"blanks only", api, answer("\r\n \r\n"), then::close, kind::cut, "", "empty answer"},
      {"comments only", api, answer(": ping\n\n: ping\n\n"), then::close, kind::cut, "", "cut off"},
      {"an end mark only", api, answer(sse("[DONE]")), then::close, kind::garbage, "", "holds nothing"},
      {"usage only", api, answer(sse(R"({"choices":[],"usage":{"prompt_tokens":1,"completion_tokens":1}})")),
       then::close, kind::cut, "", "cut off"},
      {"a role only", api, answer(choice(R"({"role":"assistant","content":""})")), then::close, kind::cut, "",
       "cut off"},
      {"no finish reason and no end mark", api, answer(hello), then::close, kind::cut, "Hello", "cut off"},
      {"no finish reason before the end mark", api, answer(hello + sse("[DONE]")), then::close, kind::cut, "Hello",
       "without a finish reason"},
      {"a call and an end mark without a finish reason", api, answer(call_whole + sse("[DONE]")), then::close,
       kind::cut, "", "without a finish reason"},
      {"half an event at the end", api, answer(hello + R"(data: {"choices":[{"delta":{"content":"wor)"), then::close,
       kind::cut, "Hello", "cut off"},
      {"an event that is no JSON", api, answer(hello + "data: Internal error\n\n"), then::close, kind::garbage, "Hello",
       "not JSON"},
      {"an event cut by its end", api, answer(hello + "data: {\"choices\":[\n\n"), then::close, kind::garbage, "Hello",
       "not JSON"},
      {"bytes that are no UTF-8", api, answer(hello + sse("{\"choices\":\"\xff\xfe\"}")), then::close, kind::garbage,
       "Hello", "not JSON"},
      {"an error in the stream", api, answer(hello + sse(R"({"error":{"message":"boom","code":500}})")), then::close,
       kind::refused, "Hello", "boom"},
      {"an error as text", api, answer(hello + sse(R"({"error":"boom"})")), then::close, kind::refused, "Hello",
       "boom"},
      {"an error event", api, answer(hello + event("error", R"({"error":{"message":"boom"}})")), then::close,
       kind::refused, "Hello", "boom"},
      {"an error event that is no JSON", api, answer(hello + event("error", "boom")), then::close, kind::refused,
       "Hello", "boom"},
      {"vLLM's error object", api, answer(hello + sse(R"({"object":"error","message":"boom","code":500})")),
       then::close, kind::refused, "Hello", "boom"},
      {"an error without framing", api, answer(hello + "{\"error\":{\"message\":\"boom\"}}\n"), then::close,
       kind::refused, "Hello", "boom"},
      {"an error for its finish reason", api,
       answer(hello + choice("{}", R"(,"finish_reason":"error")") + sse("[DONE]")), then::close, kind::refused, "Hello",
       "ended its answer with an error"},
      {"an engine that gave up", api, answer(hello + choice("{}", R"(,"finish_reason":"abort")") + sse("[DONE]")),
       then::close, kind::refused, "Hello", "ended its answer with an error (abort)"},
      {"an engine that gave up in a call", api,
       answer(call_whole + choice("{}", R"(,"finish_reason":"insufficient_system_resource")") + sse("[DONE]")),
       then::close, kind::refused, "", "ended its answer with an error (insufficient_system_resource)"},
      {"a failure without an end mark", api, answer(hello + choice("{}", R"(,"finish_reason":"network_error")")),
       then::close, kind::refused, "Hello", "ended its answer with an error (network_error)"},
      {"a finish reason that is the word null", api, answer(hello + choice("{}", R"(,"finish_reason":"null")")),
       then::close, kind::cut, "Hello", "cut off"},
      {"overload in the stream", api, answer(hello + sse(R"({"error":{"message":"busy","code":429}})")), then::close,
       kind::overloaded, "Hello", "busy"},
      {"an error instead of the answer", api, answer(R"({"error":{"message":"boom"}})", "application/json"),
       then::close, kind::refused, "", "boom"},
      {"JSON of something else", api, answer(R"({"hello":"world"})", "application/json"), then::close, kind::garbage,
       "", "none of the API"},
      {"a chunk alone instead of an answer", api,
       answer(R"({"choices":[{"index":0,"delta":{"content":"Hello"}}]})", "application/json"), then::close, kind::cut,
       "Hello", "cut off"},
      {"half of a JSON answer", api, answer(R"({"choices":[{"message":{"content":"Hel)", "application/json"),
       then::close, kind::cut, "", "cut off"},
      {"a page", api, answer("<html><body>Welcome</body></html>", "text/html"), then::close, kind::garbage, "",
       "none of the API"},
      {"plain text", api, answer("Hello there", "text/plain"), then::close, kind::garbage, "", "none of the API"},
      {"half a call", api, answer(hello + call_begins), then::close, kind::cut, "Hello", "cut off"},
      {"a whole call without an end", api, answer(call_whole), then::close, kind::cut, "", "cut off"},
  };
}

std::vector<fault> of_other_apis() {
  const auto begun = event("message_start", R"({"type":"message_start","message":{"usage":{"input_tokens":1}}})") +
                     event("content_block_start",
                           R"({"type":"content_block_start","index":0,"content_block":{"type":"text","text":""}})") +
                     event("content_block_delta",
                           R"({"type":"content_block_delta","index":0,"delta":{"type":"text_delta","text":"Hello"}})");
  const auto stopped =
      begun + event("content_block_stop", R"({"type":"content_block_stop","index":0})") +
      event("message_delta", R"({"type":"message_delta","delta":{"stop_reason":"end_turn"},"usage":{}})");
  const auto created =
      event("response.created", R"({"type":"response.created","response":{"status":"in_progress"}})") +
      event("response.output_text.delta", R"({"type":"response.output_text.delta","output_index":0,"delta":"Hello"})");
  const auto part = sse(R"({"candidates":[{"content":{"parts":[{"text":"Hello"}]}}]})");
  const std::string line = R"({"message":{"role":"assistant","content":"Hello"},"done":false})"
                           "\n";
  const std::string_view lines = "application/x-ndjson", json = "application/json";
  return {
      {"Messages without message_stop", "anthropic", answer(stopped), then::close, kind::cut, "Hello", "cut off"},
      {"Messages without a stop reason", "anthropic",
       answer(begun + event("message_stop", R"({"type":"message_stop"})")), then::close, kind::cut, "Hello",
       "without a finish reason"},
      {"Messages cut in a block", "anthropic", answer(begun), then::close, kind::cut, "Hello", "cut off"},
      {"Messages that end before they begin", "anthropic", answer(event("message_stop", R"({"type":"message_stop"})")),
       then::close, kind::garbage, "", "holds nothing"},
      {"Messages with an error event", "anthropic",
       answer(begun + event("error", R"({"type":"error","error":{"type":"overloaded_error","message":"boom"}})")),
       then::close, kind::overloaded, "Hello", "boom"},
      {"Messages with an event that is no JSON", "anthropic", answer(begun + event("content_block_delta", "{\"ty")),
       then::close, kind::garbage, "Hello", "not JSON"},
      {"an error instead of a message", "anthropic",
       answer(R"({"type":"error","error":{"type":"api_error","message":"boom"}})", json), then::close, kind::refused,
       "", "boom"},
      {"JSON that is no message", "anthropic", answer(R"({"content":"Hello"})", json), then::close, kind::garbage, "",
       "none of the API"},
      {"Messages broken off by the network", "anthropic", chunked_head(events) + chunk(begun), then::reset, kind::cut,
       "", "reading the answer"},
      {"Responses without a terminal event", "openai-responses", answer(created), then::close, kind::cut, "Hello",
       "cut off"},
      {"Responses that failed", "openai-responses",
       answer(
           created +
           event(
               "response.failed",
               R"({"type":"response.failed","response":{"status":"failed","error":{"code":"server_error","message":"boom"}}})")),
       then::close, kind::refused, "Hello", "boom"},
      {"Responses that were cancelled", "openai-responses",
       answer(created + event("response.completed",
                              R"({"type":"response.completed","response":{"status":"cancelled","output":[]}})")),
       then::close, kind::refused, "Hello", "cancelled"},
      {"Responses complete and still at work", "openai-responses",
       answer(created + event("response.completed",
                              R"({"type":"response.completed","response":{"status":"in_progress","output":[]}})")),
       then::close, kind::cut, "Hello", "cut off"},
      {"Responses with an error event", "openai-responses",
       answer(created + event("error", R"({"type":"error","code":"rate_limit_exceeded","message":"boom"})")),
       then::close, kind::overloaded, "Hello", "boom"},
      {"Responses that end with [DONE] only", "openai-responses", answer(created + sse("[DONE]")), then::close,
       kind::cut, "Hello", "cut off"},
      {"a response that failed, as one body", "openai-responses",
       answer(R"({"object":"response","status":"failed","error":{"code":"server_error","message":"boom"},"output":[]})",
              json),
       then::close, kind::refused, "", "boom"},
      {"Gemini without a finish reason", "gemini", answer(part), then::close, kind::cut, "Hello", "cut off"},
      {"Gemini with an error in the stream", "gemini",
       answer(part + sse(R"({"error":{"code":503,"message":"boom","status":"UNAVAILABLE"}})")), then::close,
       kind::overloaded, "Hello", "boom"},
      {"Gemini with an error without framing", "gemini",
       answer(part + "{\"error\":{\"code\":500,\"message\":\"boom\"}}\n"), then::close, kind::refused, "Hello", "boom"},
      {"a list of Gemini's that is cut", "gemini",
       answer(R"([{"candidates":[{"content":{"parts":[{"text":"Hello"}]}}]})", json), then::close, kind::cut, "",
       "cut off"},
      {"Gemini with nothing at all", "gemini", answer(sse(R"({"usageMetadata":{"promptTokenCount":1}})")), then::close,
       kind::cut, "", "cut off"},
      {"Ollama without done", "ollama", answer(line, lines), then::close, kind::cut, "Hello", "cut off"},
      {"Ollama with an error line", "ollama", answer(line + R"({"error":"boom"})", lines), then::close, kind::refused,
       "Hello", "boom"},
      {"Ollama with half a line", "ollama", answer(line + R"({"message":{"role":"assis)", lines), then::close,
       kind::cut, "Hello", "cut off"},
      {"Ollama with a line that is no JSON", "ollama", answer(line + "Hello\n", lines), then::close, kind::garbage,
       "Hello", "not JSON"},
      {"Ollama with lines of something else", "ollama", answer("{\"hello\":1}\n", lines), then::close, kind::garbage,
       "", "none of the API"},
      {"Azure broken off", "azure", chunked_head(events) + chunk(hello), then::close, kind::cut, "Hello",
       "reading the answer"},
      {"DIAL with an error in the stream", "dial", answer(hello + sse(R"({"error":{"message":"boom"}})")), then::close,
       kind::refused, "Hello", "boom"},
  };
}

struct told : model_events {
  std::string text;
  std::optional<model_error> error;
  int replies = 0, errors = 0;
  void on_text(std::string_view d) override { text += d; }
  void on_reasoning(std::string_view) override {}
  void on_reply(model_reply) override { ++replies; }
  void on_error(model_error e) override {
    ++errors;
    error = std::move(e);
  }
};

void check(const fault& f) {
  CAPTURE(f.name);
  std::uint64_t asked = 0;
  http_listener listener(0, [&](http_peer& peer, std::uint64_t) {
    http_peer::request q;
    if (!peer.read(q)) return;
    ++asked;
    if (!f.bytes.empty()) peer.send(f.bytes);
    if (f.end == then::stay)
      peer.wait_closed();
    else if (f.end == then::reset)
      peer.reset();
    else
      peer.close();
  });
  told got;
  {
    http_loop loop;
    manual_time time;
    counting_random random{0, 0};
    chat_model_options o;
    o.name = "main";
    o.api = f.api;
    o.wire.model = "m";
    o.wire.base_url = "http://127.0.0.1:" + std::to_string(listener.port());
    o.limits.first_byte = o.limits.idle = milliseconds(150);
    o.retries.max_retries = 0;
    const auto m = std::move(make_chat_model(std::move(o), *loop.client, time, random).value());
    model_request r;
    r.messages = {user_message("hi")};
    auto tools = std::make_shared<tool_set>();
    tools->tools.push_back({"echo", "Echoes", raw_json::literal(R"({"type":"object"})")});
    r.tools = tools;
    const auto call = m->start(std::move(r), got);
    REQUIRE(loop.until([&] { return got.errors + got.replies > 0; }));
  }
  CHECK(got.replies == 0);
  CHECK(got.errors == 1);
  CHECK(asked == 1);
  REQUIRE(got.error);
  CHECK(got.error->type == f.type);
  CHECK_MESSAGE(got.error->message.find(f.says) != std::string::npos, got.error->message);
  // Every message names the entry and the model, names the address once, and for a cut answer says what to do.
  const auto& said = got.error->message;
  CHECK_MESSAGE(said.starts_with("The model \"main\" (m) "), said);
  CHECK_MESSAGE(said.find("127.0.0.1:") != std::string::npos, said);
  CHECK_MESSAGE(said.find("127.0.0.1:") == said.rfind("127.0.0.1:"), said);
  if (f.type == kind::cut) CHECK_MESSAGE(said.find(" Ask again; ") != std::string::npos, said);
  // The shown text is the partial text; after a reset some of it may never have arrived.
  CHECK(got.error->partial_text == got.text);
  if (f.end != then::reset) CHECK(got.text == f.partial);
}

TEST_CASE("G28: an answer that is broken on its way is one error that says at which stage") {
  for (const auto& f : of_connection()) check(f);
}

TEST_CASE("G28: an answer of chat completions that is broken is one error, its text marked as partial") {
  for (const auto& f : of_chat()) check(f);
}

TEST_CASE("G28: an answer of any other API that is broken is one error, its text marked as partial") {
  for (const auto& f : of_other_apis()) check(f);
}

TEST_CASE("G28: the list of broken answers is long enough and names each once") {
  std::set<std::string_view> names;
  std::size_t all = 0;
  for (const auto& list : {of_connection(), of_chat(), of_other_apis()}) {
    all += list.size();
    for (const auto& f : list) names.insert(f.name);
  }
  CHECK(names.size() == all);
  CHECK(all >= 50);
}

}  // namespace broken_answers

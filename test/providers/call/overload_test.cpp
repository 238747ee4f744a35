// Overload that an endpoint tells inside of an answer whose status is 200: the same as that status before the first
// byte, as long as nothing was shown.
#include "providers/call/chat_model.hpp"
#include "test/fixtures/model/http_peer.hpp"
#include "test/mcp/http/client/client_harness.hpp"
#include "test/support/manual_time.hpp"

#include <doctest/doctest.h>

#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace overload_tests {

using namespace mcpbx;
using namespace mcpbx::providers;
using namespace mcpbx::providers::call;
using namespace mcpbx::test;
using kind = model_error::kind;

std::string sse(std::string_view json) {
  return "data: " + std::string(json) + "\n\n";
}
std::string event(std::string_view name, std::string_view json) {
  return "event: " + std::string(name) + "\n" + sse(json);
}

const std::string messages_overload =
    event("error", R"({"type":"error","error":{"type":"overloaded_error","message":"Overloaded"}})");
const std::string message_starts =
    event("message_start", R"({"type":"message_start","message":{"usage":{"input_tokens":1}}})");
const std::string chat_answer =
    sse(R"({"choices":[{"index":0,"delta":{"role":"assistant","content":"Hi"},"finish_reason":"stop"}]})") +
    sse("[DONE]");

struct told : model_events {
  std::string text;
  std::optional<model_reply> reply;
  std::optional<model_error> error;
  void on_text(std::string_view d) override { text += d; }
  void on_reasoning(std::string_view) override {}
  void on_reply(model_reply r) override { reply = std::move(r); }
  void on_error(model_error e) override { error = std::move(e); }
};

// An endpoint that gives these answers one after another, the last of them for ever.
struct endpoint {
  std::vector<std::string> answers;
  std::uint64_t asked = 0;
  http_listener listener;
  http_loop loop;
  manual_time time;
  counting_random random{0, 0};
  std::unique_ptr<model> m;
  told got;
  std::unique_ptr<model_call> call;

  endpoint(std::string_view api, std::vector<std::string> bodies)
      : answers(std::move(bodies)), listener(0, [this](http_peer& peer, std::uint64_t) {
          http_peer::request q;
          if (!peer.read(q)) return;
          const auto& body = answers[std::min<std::size_t>(asked++, answers.size() - 1)];
          peer.send("HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\nConnection: close\r\n\r\n" + body);
          peer.close();
        }) {
    chat_model_options o;
    o.name = "main";
    o.api = api;
    o.wire.model = "m";
    o.wire.base_url = "http://127.0.0.1:" + std::to_string(listener.port());
    m = std::move(make_chat_model(std::move(o), *loop.client, time, random).value());
    model_request r;
    r.messages = {user_message("hi")};
    call = m->start(std::move(r), got);
  }
  // It is waited for the next attempt.
  bool waits() {
    return loop.until([&] { return time.armed() == 1 || got.error || got.reply; }) && !got.error && !got.reply;
  }
  bool ends() {
    return loop.until([&] { return got.error || got.reply; });
  }
};

TEST_CASE("G31: overload told as the first event of a stream is asked again as a status is") {
  struct shape {
    std::string_view api;
    std::string overload;
  };
  for (const auto& s : std::vector<shape>{
           {"anthropic", messages_overload},
           {"anthropic", message_starts + messages_overload},
           {"openai-chat", sse(R"({"error":{"message":"busy","type":"rate_limit_error","code":429}})")},
           {"openai-responses", event("error", R"({"type":"error","code":"rate_limit_exceeded","message":"busy"})")},
           {"gemini", sse(R"({"error":{"code":503,"message":"busy","status":"UNAVAILABLE"}})")}}) {
    CAPTURE(s.api);
    endpoint e(s.api, {s.overload});
    REQUIRE(e.waits());
    CHECK(e.asked == 1);
    e.time.advance(milliseconds(499));
    CHECK(e.time.armed() == 1);
    e.time.advance(milliseconds(1));
    REQUIRE(e.loop.until([&] { return e.asked == 2 && e.time.armed() == 1; }));
    e.time.advance(milliseconds(1000));
    REQUIRE(e.ends());
    CHECK(e.asked == 3);
    REQUIRE(e.got.error);
    CHECK(e.got.error->type == kind::overloaded);
    CHECK(e.got.error->message.find("asked 3 times") != std::string::npos);
  }
}

TEST_CASE("G31: what comes after an overload told in a stream is the answer, and it comes once") {
  endpoint e("openai-chat", {sse(R"({"error":{"message":"busy","code":503}})"), chat_answer});
  REQUIRE(e.waits());
  e.time.advance(milliseconds(500));
  REQUIRE(e.ends());
  REQUIRE(e.got.reply);
  CHECK(e.got.text == "Hi");
  CHECK(e.got.reply->message->text() == "Hi");
  CHECK(e.asked == 2);
}

TEST_CASE("G31: an overload in a stream behind text that was shown is an error at once") {
  endpoint e("anthropic",
             {message_starts +
              event("content_block_start",
                    R"({"type":"content_block_start","index":0,"content_block":{"type":"text","text":""}})") +
              event("content_block_delta",
                    R"({"type":"content_block_delta","index":0,"delta":{"type":"text_delta","text":"Hello"}})") +
              messages_overload});
  REQUIRE(e.ends());
  CHECK(e.asked == 1);
  REQUIRE(e.got.error);
  CHECK(e.got.error->type == kind::overloaded);
  CHECK(e.got.error->partial_text == "Hello");
}

TEST_CASE("G29 G31: a call that an overload cut off is not in the answer that follows") {
  endpoint e("openai-chat",
             {sse(R"({"choices":[{"index":0,"delta":{"tool_calls":[{"index":0,"id":"c","type":"function",)"
                  R"("function":{"name":"f","arguments":"{\"a\":1}"}}]}}]})") +
                  sse(R"({"error":{"message":"busy","code":429}})"),
              chat_answer});
  REQUIRE(e.waits());
  e.time.advance(milliseconds(500));
  REQUIRE(e.ends());
  REQUIRE(e.got.reply);
  CHECK(e.got.reply->message->calls().empty());
}

TEST_CASE("G31: the wait that an overload in a stream asks for is obeyed up to a minute") {
  const auto asks = [](std::string_view delay) {
    return sse(R"({"error":{"code":429,"message":"Quota","status":"RESOURCE_EXHAUSTED","details":[{"retryDelay":")" +
               std::string(delay) + R"("}]}})");
  };
  endpoint e("gemini", {asks("30s")});
  REQUIRE(e.waits());
  e.time.advance(milliseconds(29'999));
  CHECK(e.time.armed() == 1);
  CHECK(e.asked == 1);
  endpoint huge("gemini", {asks("3600s")});
  REQUIRE(huge.ends());
  CHECK(huge.asked == 1);
  REQUIRE(huge.got.error);
  CHECK(huge.got.error->retry_after_ms == 3'600'000);
  CHECK(huge.got.error->message.find("asks to wait 3600 s") != std::string::npos);
}

TEST_CASE("G31: other errors that a stream tells are not asked again") {
  for (const auto* error :
       {R"({"error":{"message":"boom","code":500}})", R"({"error":{"message":"No.","type":"invalid_request_error"}})",
        R"({"error":{"message":"You exceeded your current quota","code":"insufficient_quota","type":"rate_limit"}})"}) {
    CAPTURE(error);
    endpoint e("openai-chat", {sse(error)});
    REQUIRE(e.ends());
    CHECK(e.asked == 1);
    CHECK(e.got.error);
  }
}

}  // namespace overload_tests

// A model call from request to reply, against the scripted model: faults, retries on the turned clock, secrets.
#include "providers/call/chat_model.hpp"

#include "mcp/redact/secret.hpp"
#include "mcp/support/log.hpp"
#include "providers/wire/registry/registry.hpp"
#include "test/fixtures/model/http_peer.hpp"
#include "test/fixtures/model/scripted_model.hpp"
#include "test/mcp/http/client/client_harness.hpp"
#include "test/support/manual_time.hpp"

#include <doctest/doctest.h>

#include <unistd.h>

#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace {

using namespace mcpbx;
using namespace mcpbx::json;
using namespace mcpbx::providers;
using namespace mcpbx::providers::call;
using namespace mcpbx::providers::registry;
using namespace mcpbx::redact;
using namespace mcpbx::test;
using kind = model_error::kind;

struct told : model_events {
  std::string text, thoughts;
  std::optional<model_reply> reply;
  std::optional<model_error> error;
  int ends = 0;
  std::function<void()> on_delta;
  void on_text(std::string_view d) override {
    text += d;
    if (on_delta) on_delta();
  }
  void on_reasoning(std::string_view d) override { thoughts += d; }
  void on_reply(model_reply r) override {
    ++ends;
    reply = std::move(r);
  }
  void on_error(model_error e) override {
    ++ends;
    error = std::move(e);
  }
};

// The model's own waits are on the turned clock, the sockets on the real one.
struct bench {
  scripted_model server;
  http_loop loop;
  manual_time time;
  counting_random random{0, 0};
  std::unique_ptr<model> m;
  told got;
  std::unique_ptr<model_call> call;

  explicit bench(const std::string& id, std::string script = "",
                 const std::function<void(chat_model_options&)>& change = {})
      : server({.script = std::move(script)}) {
    chat_model_options o;
    o.name = "main";
    o.wire.model = id;
    o.wire.base_url = server.url();
    o.credentials = [](auto give) { give(std::vector<http::header>{{"Authorization", "Bearer canary-key-123456"}}); };
    if (change) change(o);
    m = std::move(make_chat_model(std::move(o), *loop.client, time, random).value());
  }
  ~bench() { redactor::clear(); }
  bench(const bench&) = delete;
  bench& operator=(const bench&) = delete;

  static model_request question() {
    model_request r;
    r.messages = {user_message("hi")};
    auto tools = std::make_shared<tool_set>();
    tools->tools.push_back(
        {"echo", "Echoes", raw_json::literal(R"({"type":"object","properties":{"message":{"type":"string"}}})")});
    r.tools = tools;
    return r;
  }
  void start(model_request r = question()) {
    got.ends = 0;
    call = m->start(std::move(r), got);
    CHECK(got.ends == 0);
  }
  bool finish() {
    return loop.until([&] { return got.ends > 0; });
  }
  std::size_t requests() const { return server.bodies().size(); }
};

constexpr std::string_view other_apis[] = {"anthropic", "openai-responses", "gemini", "ollama", "azure", "dial"};

// Turns the options of the bench to that API at its own address, with its own header for the key.
void speak(std::string_view api, chat_model_options& o) {
  o.api = api;
  if (api == "anthropic" || api == "openai-responses") return;
  o.wire.base_url.replace(o.wire.base_url.rfind("/v1"), 3, api == "gemini" ? "/v1beta" : api == "dial" ? "/core" : "");
  apply_dialect(api, o.wire);
  const std::string header = api == "gemini" ? "x-goog-api-key" : "api-key";
  o.credentials = [header](auto give) { give(std::vector<http::header>{{header, "canary-key-123456"}}); };
}

// Returns the part of the model's reasoning that has to be sent back.
std::string_view echoed_by(std::string_view api) {
  if (api == "anthropic") return "\"signature\":\"c2lnbmVk\"";
  if (api == "openai-responses") return "\"encrypted_content\":\"ZW5jcnlwdGVk\"";
  if (api == "gemini") return "\"thoughtSignature\":\"c2lnbmVk\"";
  return api == "ollama" ? "\"thinking\":\"Let me see.\"" : "\"reasoning_content\":\"Let me see.\"";
}

TEST_CASE("chat_model: a reply with text, usage and one connection for many calls") {
  bench b("text");
  for (int i = 0; i < 3; ++i) {
    b.got.text.clear();
    b.start();
    REQUIRE(b.finish());
    REQUIRE(b.got.reply);
    CHECK(b.got.text == "Hello from the scripted model.");
    CHECK(b.got.reply->message->text() == b.got.text);
    CHECK(b.got.reply->usage.input == 11);
  }
  CHECK(b.server.connections() == 1);
  CHECK(b.time.armed() == 0);
}

TEST_CASE("G23: a call that is ready asks nothing before it begins") {
  bench b("text");
  b.call = b.m->prepare(bench::question(), b.got);
  b.loop.context.poll();
  CHECK((b.server.connections() == 0 && b.time.armed() == 0));
  b.call = b.m->prepare(bench::question(), b.got);
  b.call->begin();
  REQUIRE(b.finish());
  CHECK(b.got.text == "Hello from the scripted model.");
  CHECK(b.requests() == 1);
}

TEST_CASE(
    "chat_model: a key that is late is waited for, and one that cannot be had is told, whether the call has begun or "
    "not") {
  for (const bool begun : {false, true})
    for (const bool there : {false, true}) {
      std::function<void(result<std::vector<http::header>>)> give;
      bench b("text", "", [&](chat_model_options& o) { o.credentials = [&](auto g) { give = std::move(g); }; });
      b.call = b.m->prepare(bench::question(), b.got);
      if (begun) b.call->begin();
      b.loop.context.poll();
      CHECK((b.got.ends == 0 && b.server.connections() == 0));
      if (there)
        give(std::vector<http::header>{{"Authorization", "Bearer canary-key-123456"}});
      else
        give(fail(errc::not_found, "it is not set"));
      if (!begun) b.call->begin();
      REQUIRE(b.finish());
      CHECK((b.got.ends == 1 && b.got.reply.has_value() == there));
      CHECK(b.requests() == (there ? 1 : 0));
    }
}

TEST_CASE("L3: a round of calls is echoed byte for byte and the next round begins with the same bytes") {
  bench b("rounds-1");
  auto r = bench::question();
  b.start(r);
  REQUIRE(b.finish());
  REQUIRE(b.got.reply->message->calls().size() == 1);
  r.messages.push_back(b.got.reply->message);
  auto results = std::make_shared<message>();
  results->role = role::tool_results;
  results->blocks.emplace_back(tool_result_block{b.got.reply->message->calls()[0]->id, "echo",
                                                 raw_json::literal(R"({"content":[{"type":"text","text":"hello"}]})"),
                                                 false});
  r.messages.push_back(results);
  b.start(r);
  REQUIRE(b.finish());
  CHECK(b.got.reply->message->text() == "Final: hello");
  const auto bodies = b.server.bodies();
  const auto prefix = bodies[0].substr(0, bodies[0].find("],\"tools\""));
  CHECK(bodies[1].starts_with(prefix));
  CHECK(bodies[1].find(b.got.reply->message->calls().empty()
                           ? R"({"role":"assistant","content":"","tool_calls":[{"id":"call_0_0")"
                           : "?") != std::string::npos);
}

TEST_CASE("G28: every broken answer is one error with its text marked as partial, and is not asked again") {
  struct row {
    std::string fault;
    kind type;
    bool partial;
  };
  for (const auto& r : std::vector<row>{{"eof-before-finish", kind::cut, true},
                                        {"chunk-truncate", kind::cut, true},
                                        {"reset", kind::cut, false},
                                        {"wrong-length", kind::cut, false},
                                        {"empty-body", kind::cut, false},
                                        {"error-event", kind::refused, true},
                                        {"error-event-groq", kind::refused, true},
                                        {"error-finish", kind::refused, true},
                                        {"json-error-200", kind::refused, false},
                                        {"garbage", kind::garbage, true},
                                        {"garbage-html", kind::garbage, false},
                                        {"garbage-http", kind::garbage, false},
                                        {"gzip", kind::garbage, false},
                                        {"eof-in-tool-args", kind::cut, false},
                                        {"redirect", kind::refused, false}}) {
    CAPTURE(r.fault);
    bench b(r.fault);
    b.start();
    REQUIRE(b.finish());
    CHECK(b.got.ends == 1);
    REQUIRE(b.got.error);
    CHECK(b.got.error->type == r.type);
    if (r.partial) CHECK(b.got.error->partial_text.starts_with("Hello"));
    CHECK(b.got.error->message.size() > 20);
    CHECK(b.requests() == 1);
  }
}

TEST_CASE("L16: a call that broke has an estimate of what it used up, one that was refused or never left has none") {
  const auto used = [](const std::string& fault, const std::function<void(chat_model_options&)>& change = {}) {
    bench b(fault, "", [&](chat_model_options& o) {
      o.retries.max_retries = 0;
      o.limits.idle = milliseconds(200);
      if (change) change(o);
    });
    b.start();
    REQUIRE(b.finish());
    REQUIRE(b.got.error);
    const auto& u = b.got.error->usage;
    CHECK(u.estimated == (u.input > 0));
    if (u.estimated) CHECK(u.input == static_cast<std::int64_t>(b.server.bodies().at(0).size() / 4 + 1));
    CHECK(u.output == (u.estimated ? static_cast<std::int64_t>(b.got.text.size() / 4) : 0));
    return u.estimated;
  };
  for (const auto* fault : {"eof-before-finish", "chunk-truncate", "reset", "empty-body", "error-event", "garbage",
                            "garbage-html", "eof-in-tool-args", "hang-mid-stream"}) {
    CAPTURE(fault);
    CHECK(used(fault));
  }
  for (const auto* fault : {"json-error-200", "status-500", "status-401", "flaky-1", "redirect"}) {
    CAPTURE(fault);
    CHECK_FALSE(used(fault));
  }
  CHECK_FALSE(used("text", [](chat_model_options& o) { o.wire.base_url = "http://127.0.0.1:1/v1"; }));
}

TEST_CASE("L16: what attempts used up that came to nothing counts with the one that is told") {
  // Answers end before their first byte.
  http_listener silent(0, [](http_peer& peer, std::uint64_t) {
    http_peer::request q;
    if (peer.read(q)) peer.close();
  });
  const auto used = [&](int retries, const std::function<void(chat_model_options&)>& change) {
    bench b("bad", R"({"models":{"bad":[{"finish":"MALFORMED_FUNCTION_CALL"}]}})", [&](chat_model_options& o) {
      o.retries.max_retries = retries;
      change(o);
    });
    b.start();
    for (int i = 0; i < retries; ++i) {
      REQUIRE(b.loop.until([&] { return b.time.armed() == 1; }));
      CHECK(b.call->spent().input > 0);
      b.time.advance(milliseconds(8000));
    }
    REQUIRE(b.finish());
    return b.got.reply ? b.got.reply->usage : b.got.error->usage;
  };
  for (const auto& change : std::vector<std::function<void(chat_model_options&)>>{
           [&](auto& o) { o.wire.base_url = "http://127.0.0.1:" + std::to_string(silent.port()); },
           [](auto& o) { speak("gemini", o); }}) {
    const auto one = used(0, change), three = used(2, change);
    CHECK(one.input > 0);
    CHECK(three.input == 3 * one.input);
    CHECK(three.output == 3 * one.output);
    CHECK(three.estimated == one.estimated);
  }
  // One that was refused by its status used up nothing.
  bench busy("flaky-1");
  busy.start();
  REQUIRE(busy.loop.until([&] { return busy.time.armed() == 1; }));
  CHECK(busy.call->spent().input == 0);
}

TEST_CASE("L16: a call that goes on can tell what it has used up so far, before it is ended") {
  bench b("endless");
  b.call = b.m->prepare(bench::question(), b.got);
  CHECK_FALSE(b.call->spent().estimated);
  usage used;
  b.got.on_delta = [&] {
    used = b.call->spent();
    b.call.reset();
  };
  b.call->begin();
  CHECK_FALSE(b.call->spent().estimated);  // nothing has left yet
  REQUIRE(b.loop.until([&] { return b.call == nullptr; }));
  CHECK(used.estimated);
  CHECK(used.input == static_cast<std::int64_t>(b.server.bodies().at(0).size() / 4 + 1));
  CHECK(used.output == static_cast<std::int64_t>(b.got.text.size() / 4));
}

TEST_CASE("G29: calls that were cut, malformed or without ids") {
  const auto calls = [](const std::string& fault) {
    bench b(fault);
    b.start();
    REQUIRE(b.finish());
    REQUIRE(b.got.reply);
    return b.got.reply->message;
  };
  CHECK(calls("length-in-tool-args")->calls().empty());
  CHECK_FALSE(calls("bad-args")->calls()[0]->problem.empty());
  CHECK_FALSE(calls("args-not-object")->calls()[0]->problem.empty());
  CHECK(calls("unknown-tool")->calls()[0]->name == "no_such_tool");
  for (const auto* fault : {"dup-tool-ids", "no-tool-id", "no-index", "index-0"}) {
    const auto m = calls(fault);
    REQUIRE(m->calls().size() == 2);
    CHECK(m->calls()[0]->id != m->calls()[1]->id);
    CHECK(m->calls()[1]->problem.empty());
  }
  CHECK(calls("args-object")->calls()[0]->arguments.text() == R"({"message":"hello"})");
  CHECK(calls("parallel-5")->calls().size() == 5);
}

TEST_CASE("chat_model: odd but complete answers are replies") {
  for (const auto* kind_of : {"no-done", "json-body", "array-content", "reasoning", "think", "done-no-eof"}) {
    CAPTURE(kind_of);
    bench b(kind_of);
    b.start();
    REQUIRE(b.finish());
    REQUIRE(b.got.reply);
    CHECK(b.got.text == "Hello from the scripted model.");
    if (std::string_view(kind_of) == "reasoning" || std::string_view(kind_of) == "think")
      CHECK(b.got.thoughts == "Let me think.");
  }
}

TEST_CASE("G33: a model that writes more words than any answer has is stopped, and keeps what it wrote so far") {
  std::string words;
  for (int i = 0; i < 3'000; ++i) words += std::string(2'000, 'x') + " ";
  bench b("big", R"({"models":{"big":[{"text":")" + words + R"("}]}})");
  b.start();
  REQUIRE(b.finish());
  REQUIRE(b.got.error);
  CHECK(b.got.error->type == kind::garbage);
  CHECK(b.got.error->message.find("wrote more than 4 MiB") != std::string::npos);
  CHECK(b.got.text.size() < (5u << 20));
  CHECK(b.got.error->partial_text == b.got.text);
  CHECK(b.requests() == 1);
}

TEST_CASE("chat_model: after the end mark the connection is not waited for") {
  bench b("done-no-eof");
  b.start();
  REQUIRE(b.finish());
  b.call.reset();
  CHECK(b.time.armed() == 1);
  b.time.advance(milliseconds(50));
  CHECK(b.server.wait_for("closed", 1));
}

TEST_CASE("G31: overload is asked again at most twice, with growing waits on the turned clock") {
  bench b("flaky-2");
  b.start();
  REQUIRE(b.loop.until([&] { return b.time.armed() == 1; }));
  CHECK(b.requests() == 1);
  b.time.advance(milliseconds(499));
  CHECK(b.requests() == 1);
  b.time.advance(milliseconds(1));
  REQUIRE(b.loop.until([&] { return b.requests() == 2 && b.time.armed() == 1; }));
  b.time.advance(milliseconds(1000));
  REQUIRE(b.finish());
  CHECK(b.got.reply);
  CHECK(b.requests() == 3);

  bench never("flaky-9");
  never.start();
  for (int i = 0; i < 2; ++i) {
    REQUIRE(never.loop.until([&] { return never.time.armed() == 1; }));
    never.time.advance(milliseconds(8000));
  }
  REQUIRE(never.finish());
  CHECK(never.requests() == 3);
  CHECK(never.got.error->type == kind::overloaded);
  CHECK(never.got.error->message.find("asked 3 times") != std::string::npos);
}

TEST_CASE("L15: a request that may not be repeated is asked once, also of an endpoint that is overloaded") {
  bench b("flaky-1");
  auto once = bench::question();
  once.may_repeat = false;
  b.start(std::move(once));
  REQUIRE(b.finish());
  CHECK(b.got.error);
  CHECK(b.requests() == 1);
  CHECK(b.time.armed() == 0);
}

TEST_CASE("gemini, errors: a reply that is only a call nobody can read is asked for again") {
  bench b("bad", R"({"models":{"bad":[{"finish":"MALFORMED_FUNCTION_CALL"}]}})",
          [](chat_model_options& o) { speak("gemini", o); });
  b.start();
  for (int i = 0; i < 2; ++i) {
    REQUIRE(b.loop.until([&] { return b.time.armed() == 1; }));
    b.time.advance(milliseconds(8000));
  }
  REQUIRE(b.finish());
  REQUIRE(b.got.reply);
  CHECK(b.got.reply->reason == end_reason::malformed_call);
  CHECK(b.requests() == 3);
  // Shown text cannot be taken back, so the call is not repeated.
  bench shown("shown", R"({"models":{"shown":[{"text":"Let me see.","finish":"MALFORMED_FUNCTION_CALL"}]}})",
              [](chat_model_options& o) { speak("gemini", o); });
  shown.start();
  REQUIRE(shown.finish());
  CHECK(shown.requests() == 1);
  CHECK(shown.got.reply->reason == end_reason::malformed_call);
}

TEST_CASE(
    "openai-chat, errors: what Groq cannot read as a call is told, and asked for again where there are no tools") {
  bench b("status-400-groq");
  b.start();
  REQUIRE(b.finish());
  REQUIRE(b.got.error);
  CHECK(b.got.error->failed_generation == "<function=echo{}</function>");
  CHECK(b.requests() == 1);
  auto last_round = bench::question();
  last_round.tools.reset();
  b.start(last_round);
  for (int i = 0; i < 2; ++i) {
    REQUIRE(b.loop.until([&] { return b.time.armed() == 1; }));
    b.time.advance(milliseconds(8000));
  }
  REQUIRE(b.finish());
  REQUIRE(b.got.error);
  CHECK(b.requests() == 4);
}

TEST_CASE("G31: what a key, a wrong name or an empty account causes is never asked again") {
  for (const auto* status : {"status-400", "status-401", "status-402", "status-403", "status-404", "status-429-quota",
                             "status-400-context"}) {
    bench b(status);
    b.start();
    REQUIRE(b.finish());
    CHECK(b.got.error);
    CHECK(b.requests() == 1);
  }
}

TEST_CASE("G31: retry-after is obeyed up to a minute, beyond that the error comes at once with its value") {
  bench b("retry-after-30");
  b.start();
  REQUIRE(b.loop.until([&] { return b.time.armed() == 1; }));
  b.time.advance(milliseconds(29'999));
  CHECK(b.requests() == 1);
  b.time.advance(milliseconds(1));
  REQUIRE(b.finish());
  CHECK(b.got.reply);

  // Gemini says it in the body.
  bench body("status-429-retry-info");
  body.start();
  REQUIRE(body.loop.until([&] { return body.time.armed() == 1; }));
  body.time.advance(milliseconds(30'499));
  CHECK(body.requests() == 1);
  CHECK(body.time.armed() == 1);
  bench huge_body("status-429-retry-info-huge");
  huge_body.start();
  REQUIRE(huge_body.finish());
  CHECK(huge_body.got.error->retry_after_ms == 3'600'000);
  CHECK(huge_body.got.error->message.find("It asks to wait 3600 s") != std::string::npos);
  CHECK(huge_body.requests() == 1);

  bench huge("retry-after-3600");
  huge.start();
  REQUIRE(huge.finish());
  CHECK(huge.got.error->retry_after_ms == 3'600'000);
  CHECK(huge.got.error->message.find("It asks to wait 3600 s") != std::string::npos);
  CHECK(huge.requests() == 1);
}

TEST_CASE("G27: the clock is set while the model is waited for: Retry-After and back-off are as long as they were") {
  for (const auto jump : {milliseconds(86'400'000), milliseconds(-86'400'000)}) {
    bench b("retry-after-30");
    b.start();
    REQUIRE(b.loop.until([&] { return b.time.armed() == 1; }));
    b.time.advance(milliseconds(10'000));
    b.time.jump_wall(jump);
    b.time.advance(milliseconds(19'999));
    CHECK(b.requests() == 1);
    b.time.advance(milliseconds(1));
    REQUIRE(b.finish());
    CHECK(b.got.reply);

    bench flaky("flaky-1");
    flaky.start();
    REQUIRE(flaky.loop.until([&] { return flaky.time.armed() == 1; }));
    flaky.time.jump_wall(jump);
    flaky.time.advance(milliseconds(499));
    CHECK(flaky.requests() == 1);
    flaky.time.advance(milliseconds(1));
    REQUIRE(flaky.finish());
    CHECK(flaky.got.reply);
  }
}

TEST_CASE("G31: a connection that cannot be made is tried again, and nothing is after a delta was shown") {
  bench b("text", "", [](chat_model_options& o) { o.wire.base_url = "http://127.0.0.1:1/v1"; });
  b.start();
  for (int i = 0; i < 2; ++i) {
    REQUIRE(b.loop.until([&] { return b.time.armed() == 1; }));
    b.time.advance(milliseconds(8000));
  }
  REQUIRE(b.finish());
  CHECK(b.got.error->type == kind::connection);
  CHECK(b.loop.client->counts().connections == 3);

  bench shown("error-event");
  shown.start();
  REQUIRE(shown.finish());
  CHECK(shown.requests() == 1);
}

TEST_CASE("chat_model: leaving cancels the request, also from inside a delta and while it waits to ask again") {
  bench b("endless");
  b.start();
  b.got.on_delta = [&] { b.call.reset(); };
  REQUIRE(b.loop.until([&] { return b.call == nullptr; }));
  CHECK(b.server.wait_for("closed", 1));
  b.loop.context.poll();
  CHECK(b.got.ends == 0);

  bench waiting("flaky-1");
  waiting.start();
  REQUIRE(waiting.loop.until([&] { return waiting.time.armed() == 1; }));
  waiting.call.reset();
  CHECK(waiting.time.armed() == 0);
}

TEST_CASE("G35: the key is in no error and no log line, though the endpoint echoes it") {
  std::string log;
  log::install(log::level::trace, [&](log::level, std::string_view line) { log += line; });
  for (const auto* fault : {"status-401-echo-key", "status-503-echo-key", "text"}) {
    bench b(fault, "", [](chat_model_options& o) { o.retries.max_retries = 0; });
    b.start();
    REQUIRE(b.finish());
    if (b.got.error) CHECK(b.got.error->message.find("canary") == std::string::npos);
    CHECK(b.server.log()[0].find("\"Authorization\"") != std::string::npos);
  }
  log::install(log::level::off, {});
  CHECK_FALSE(log.empty());
  CHECK(log.find("canary") == std::string::npos);
}

TEST_CASE("G35: what an endpoint said is in the log word for word, but for secrets") {
  std::string lines;
  log::install(log::level::info, [&](log::level, std::string_view line) { lines += std::string(line) + "\n"; });
  for (const auto* fault : {"status-401-echo-key", "status-500-vllm", "error-event", "error-event-echo-key"}) {
    bench b(fault, "", [](chat_model_options& o) { o.retries.max_retries = 0; });
    b.start();
    REQUIRE(b.finish());
  }
  log::install(log::level::off, {});
  CHECK(lines.find(R"("code":"invalid_api_key"})") != std::string::npos);
  CHECK(lines.find("Incorrect API key provided: Bearer ***") != std::string::npos);
  CHECK(lines.find(R"(status 500: {"object":"error","message":"scripted failure")") != std::string::npos);
  // An error inside of an answer that began well.
  CHECK(lines.find(R"(status 200: {"error":{"message":"scripted failure","type":"server_error","code":500}})") !=
        std::string::npos);
  CHECK(lines.find(R"(status 200: {"error":{"message":"Incorrect API key provided: Bearer ***")") != std::string::npos);
  CHECK(lines.find("canary") == std::string::npos);
}

TEST_CASE("E3: the endpoint gets the trace of the request in its headers, unless the configuration has its own") {
  std::vector<std::string> seen;
  const http_listener server(0, [&](http_peer& peer, std::uint64_t) {
    http_peer::request q;
    while (peer.read(q)) {
      std::string traces;
      for (const auto& [name, value] : q.headers)
        if (name.starts_with("trace")) traces += name + "=" + value + " ";
      seen.push_back(std::move(traces));
      send_plain(peer, 401, "application/json", R"({"error":"no"})");
    }
  });
  const std::string parent = "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01";
  for (const bool own : {false, true}) {
    bench b("text", "", [&](chat_model_options& o) {
      o.wire.base_url = "http://127.0.0.1:" + std::to_string(server.port()) + "/v1";
      if (own) o.headers = {{"Traceparent", "of the configuration"}};
    });
    auto r = bench::question();
    r.trace = {parent, "a=1"};
    b.start(r);
    REQUIRE(b.finish());
    if (own) continue;
    b.start();
    REQUIRE(b.finish());
  }
  CHECK(seen == std::vector<std::string>{"traceparent=" + parent + " tracestate=a=1 ", "", "tracestate=a=1 "});
}

TEST_CASE("chat_model: headers of the configuration replace ours, and an endpoint may be behind a Unix socket") {
  const std::string path = "/tmp/mcpbx-chat-model-test-" + std::to_string(::getpid()) + ".sock";
  std::string seen;
  const http_listener server(path, [&](http_peer& peer, std::uint64_t) {
    http_peer::request q;
    while (peer.read(q)) {
      seen = q.target;
      for (const auto& [name, value] : q.headers)
        if (name == "Authorization" || name == "authorization" || name == "accept" || name == "Accept")
          seen += " " + name + "=" + value;
      send_plain(peer, 401, "application/json", R"({"error":"no"})");
    }
  });
  bench b("text", "", [&](chat_model_options& o) {
    o.wire.base_url = "unix:" + path + ":/v1";
    o.credentials = [](auto give) {
      give(std::vector<http::header>{
          {"Authorization", "Bearer canary-key-123456"}, {"authorization", "Token t"}, {"accept", "*/*"}});
    };
  });
  b.start();
  REQUIRE(b.finish());
  CHECK(seen.starts_with("/v1/chat/completions "));
  CHECK(seen.find("Bearer") == std::string::npos);
  CHECK(seen.find(" authorization=Token t") != std::string::npos);
  CHECK(seen.find("Accept=") == std::string::npos);
  CHECK(b.got.error->message.find("at unix:" + path + " answered with status 401") != std::string::npos);
}

TEST_CASE("L13: an endpoint may forbid a retry, and how long it asks to wait is told when no time is left") {
  const auto answers = [](const std::string& headers) {
    return http_listener(0, [headers](http_peer& peer, std::uint64_t) {
      http_peer::request q;
      while (peer.read(q)) send_plain(peer, 503, "application/json", R"({"error":"busy"})", headers);
    });
  };
  const auto forbids = answers("x-should-retry: false\r\n");
  const auto at = [](const http_listener& l) { return "http://127.0.0.1:" + std::to_string(l.port()) + "/v1"; };
  bench b("text", "", [&](chat_model_options& o) { o.wire.base_url = at(forbids); });
  b.start();
  REQUIRE(b.finish());
  CHECK(b.loop.client->counts().exchanges == 1);

  const auto slow = answers("Retry-After: 20\r\n");
  bench short_of_time("text", "", [&](chat_model_options& o) {
    o.wire.base_url = at(slow);
    o.limits.total = milliseconds(15'000);
  });
  short_of_time.start();
  REQUIRE(short_of_time.finish());
  CHECK(short_of_time.loop.client->counts().exchanges == 1);
  CHECK(short_of_time.got.error->retry_after_ms == 20'000);
  CHECK(short_of_time.got.error->message.find("It asks to wait 20 s") != std::string::npos);
}

TEST_CASE("L8 L13: an endpoint is not asked again when the answer is needed before: its error comes at once") {
  for (const bool asks : {true, false}) {
    const http_listener busy(0, [asks](http_peer& peer, std::uint64_t) {
      http_peer::request q;
      while (peer.read(q))
        send_plain(peer, asks ? 429 : 500, "application/json", R"({"error":"busy"})",
                   asks ? "Retry-After: 30\r\n" : "");
    });
    bench b("text", "", [&](chat_model_options& o) {
      o.wire.base_url = "http://127.0.0.1:" + std::to_string(busy.port()) + "/v1";
    });
    auto r = bench::question();
    // The first wait without a word of the endpoint is half a second, the second one a second.
    r.needed_by = b.time.now() + milliseconds(asks ? 30'000 : 1'500);
    b.start(r);
    if (!asks) {
      REQUIRE(b.loop.until([&] { return b.time.armed() == 1; }));
      b.time.advance(milliseconds(500));
    }
    REQUIRE(b.finish());
    REQUIRE(b.got.error);
    CHECK(b.got.error->http_status == (asks ? 429 : 500));
    CHECK((b.got.error->message.find("It asks to wait 30 s") != std::string::npos) == asks);
    CHECK(b.loop.client->counts().exchanges == (asks ? 1 : 2));
  }
}

TEST_CASE("chat_model: a key that is not there is a configuration error, told after start") {
  bench b("text", "", [](chat_model_options& o) {
    o.credentials = [](auto give) { give(fail(errc::config, "the variable KEY is not set.")); };
  });
  b.start();
  b.time.advance(milliseconds(0));
  CHECK(b.got.ends == 1);
  CHECK(b.got.error->type == kind::configuration);
  CHECK(b.got.error->message.find("KEY is not set") != std::string::npos);
  CHECK(b.requests() == 0);
}

TEST_CASE("G35: credentials that change from request to request are redacted, whichever header has them") {
  std::vector<http::header> given;
  bench b("text", "", [&](chat_model_options& o) { o.credentials = [&](auto give) { give(given); }; });
  for (const auto& [one, two] : {std::pair("a", "c"), {"a", "d"}, {"b", "d"}, {"b", "e"}}) {
    given = {{"Authorization", "Bearer canary-first-" + std::string(one)},
             {"X-Second", "canary-second-" + std::string(two)}};
    b.start();
    REQUIRE(b.finish());
    CHECK(b.got.reply.has_value());
    for (const auto& h : given)
      CHECK(redactor::redact("said " + h.value + " back").find("canary") == std::string::npos);
  }
}

TEST_CASE("F1: anthropic and gemini are not asked without a message, and the error says what to do") {
  for (const std::string_view api : {"anthropic", "gemini"}) {
    CAPTURE(api);
    bench b("text", "", [&](chat_model_options& o) { speak(api, o); });
    auto r = bench::question();
    r.messages = {system_message("be brief")};
    b.start(std::move(r));
    b.time.advance(milliseconds(0));
    REQUIRE(b.got.ends == 1);
    CHECK(b.got.error->type == kind::bad_request);
    CHECK(b.got.error->message.find("was not asked") != std::string::npos);
    CHECK(b.got.error->message.find("message of the user") != std::string::npos);
    CHECK(b.requests() == 0);
  }
}

TEST_CASE("chat_model: unknown APIs and unusable addresses are refused at once") {
  http_loop loop;
  manual_time time;
  counting_random random;
  chat_model_options o;
  o.name = "x";
  o.wire.base_url = "http://h/v1";
  o.api = "telepathy";
  CHECK(make_chat_model(o, *loop.client, time, random).error().message.find("telepathy") != std::string::npos);
  o.api = "openai-chat";
  o.wire.base_url = "h/v1";
  CHECK(make_chat_model(o, *loop.client, time, random).error().code == errc::config);
}

TEST_CASE("F1 L12: thoughts, parallel calls and their results, in requests that the API takes") {
  const std::string script =
      R"({"models":{"talk":[{"reasoning":"Let me see.","text":"I look.","calls":[)"
      R"({"name":"echo","arguments":{"message":"one"}},{"name":"echo","arguments":{"message":"two"}}]},{"text":"All done."}]}})";
  for (const auto api : other_apis) {
    CAPTURE(api);
    bench b("talk", script, [&](chat_model_options& o) { speak(api, o); });
    auto r = bench::question();
    b.start(r);
    REQUIRE(b.finish());
    REQUIRE(b.got.reply);
    CHECK(b.got.thoughts == "Let me see.");
    CHECK(b.got.text == "I look.");
    CHECK(b.got.reply->reason == end_reason::tool_calls);
    // DIAL counts unasked; the scripted model does not.
    CHECK(b.got.reply->usage.estimated == (api == "dial"));
    if (api != "dial") CHECK(b.got.reply->usage.input == 11);
    if (api != "dial") CHECK(b.got.reply->usage.output == 7);
    auto results = std::make_shared<message>();
    results->role = role::tool_results;
    for (const auto* c : b.got.reply->message->calls())
      results->blocks.emplace_back(tool_result_block{
          c->id, c->name, raw_json::literal(R"({"content":[{"type":"text","text":"hello"}]})"), false});
    REQUIRE(results->blocks.size() == 2);
    r.messages.push_back(b.got.reply->message);
    r.messages.push_back(results);
    b.got.text.clear();
    b.start(r);
    REQUIRE(b.finish());
    CHECK_MESSAGE(b.got.text == "All done.", (b.got.error ? b.got.error->message : ""));
    CHECK(b.server.bodies()[1].find(echoed_by(api)) != std::string::npos);
    CHECK(b.server.connections() == 1);
  }
}

TEST_CASE("G28 L13: other APIs: a broken answer is one error, an overloaded endpoint is asked again") {
  for (const auto api : other_apis) {
    CAPTURE(api);
    for (const auto* fault : {"eof-before-finish", "chunk-truncate", "reset", "hang-mid-stream", "garbage"}) {
      CAPTURE(fault);
      bench b(fault, "", [&](chat_model_options& o) {
        speak(api, o);
        o.limits.idle = milliseconds(200);
      });
      b.start();
      REQUIRE(b.finish());
      CHECK(b.got.error);
      CHECK(b.got.ends == 1);
      CHECK(b.requests() == 1);
    }
    bench b("flaky-1-529", "", [&](chat_model_options& o) { speak(api, o); });
    b.start();
    REQUIRE(b.loop.until([&] { return b.time.armed() > 0; }));
    b.time.advance(milliseconds(500));
    REQUIRE(b.finish());
    CHECK(b.got.reply);
    CHECK(b.requests() == 2);
  }
}

}  // namespace

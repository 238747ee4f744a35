// Tests of model names, and of the errors for names without a model.
#include "daemon/app/models/models.hpp"

#include "mcp/async/system_time.hpp"
#include "test/daemon/app/loaded.hpp"
#include "test/fixtures/model/scripted_model.hpp"
#include "test/support/captured_output.hpp"
#include "test/support/contains.hpp"
#include "test/support/manual_time.hpp"
#include "test/support/temporary_directory.hpp"

#include <boost/asio/executor_work_guard.hpp>
#include <boost/asio/io_context.hpp>
#include <doctest/doctest.h>

#include <algorithm>
#include <chrono>
#include <fstream>
#include <iterator>
#include <memory>
#include <optional>
#include <string>
#include <vector>

using namespace mcpbx;
using namespace mcpbx::async;
using namespace mcpbx::daemon::models;
using namespace mcpbx::daemon::references;
using namespace mcpbx::json;
using namespace mcpbx::redact;
using mcpbx::daemon::test::loaded;
using mcpbx::test::contains;

namespace {

struct models_fixture {
  explicit models_fixture(const std::string& text)
      : from(std::make_shared<const configuration_snapshot>(loaded(text))) {}
  std::string error(std::string_view name) {
    auto m = models.find(name);
    return m ? "found " + (*m)->name() + " " + (*m)->id() : m.error().message;
  }
  configuration_ptr from;
  const conf::model::configuration& all = from->config;
  boost::asio::io_context io;
  mcpbx::test::manual_time time;
  system_random random;
  keyed_lanes keys{io.get_executor(), "keys"};
  lane compute{"compute", 1};
  http::clients::client http{io.get_executor(), time, compute, {}};
  model_set models{from, {io.get_executor(), http, time, random, keys}};
};

}  // namespace

TEST_CASE("models: a name or NAME/ID or nothing for the default") {
  models_fixture f(R"({"models": {"gpt": {"api": "openai-chat", "model": "gpt-x"}}, "defaultModel": "gpt"})");
  CHECK(f.error("") == "found gpt gpt-x");
  CHECK(f.error("gpt") == "found gpt gpt-x");
  CHECK(f.error("gpt/other/id") ==
        "found gpt/other/id other/id");  // by this name a later request finds the model again
  CHECK(f.error("demo").starts_with("found demo"));
  CHECK(f.models.find("gpt")->get() == f.models.find("")->get());
  CHECK(model_entry_of(f.all, "gpt/other") == f.all.find_model("gpt"));
  CHECK(model_entry_of(f.all, "none") == nullptr);
}

TEST_CASE("models: what cannot be used is explained") {
  models_fixture f(R"({"models": {"gemma": {"api": "openai-chat", "model": "g", "baseUrl": "http://x:y/"},
    "unset": {"api": "openai-chat", "model": "${env:MCPBX_TEST_A}"}}})");
  const mcpbx::test::changed_variable unset("MCPBX_TEST_A", nullptr);
  CHECK(contains(f.error(""), "-m demo"));
  CHECK(contains(f.error(""), "OPENAI_API_KEY"));
  CHECK(contains(f.error("gema"), "did you mean \"gemma\"?"));
  CHECK(f.models.find("gema").error().code == errc::config);
  CHECK(contains(f.error("profile:x"), "there is no model \"profile:x\""));
  CHECK(check_model_name(f.all, "profile:x").error().message ==
        "there is no model \"profile:x\"; `mcpbx models` lists them");
  CHECK(
      check_model_name(f.all, "gemma/").error().message ==
      "expected an ID behind the slash of \"gemma/\"; write \"gemma\" for the model of that entry, or \"gemma/ID\" for "
      "another one");
  CHECK(check_model_name(f.all, "gemma/a/").has_value());  // an ID may be anything
  CHECK(contains(f.error("gemma"), "Model \"gemma\": "));
  CHECK(contains(f.error("unset"), "MCPBX_TEST_A"));
}

TEST_CASE("F1: every API has its usual address, and those at a deployment's need one") {
  models_fixture f(R"({"models": {"g": {"api": "gemini", "model": "x"}, "o": {"api": "ollama", "model": "x"},
    "d": {"api": "dial", "model": "x", "baseUrl": "https://d.example"},
    "a": {"api": "azure", "model": "x", "baseUrl": "https://a.example", "apiVersion": "${env:MCPBX_TEST_A}"}}})");
  const mcpbx::test::changed_variable set("MCPBX_TEST_A", "2025-01-01");
  for (const auto* name : {"g", "o", "d", "a"}) {
    CHECK(f.error(name) == "found " + std::string(name) + " x");
    CHECK((*f.models.find(name))->api() == conf::loop::to_string(*f.all.find_model(name)->api));
  }
}

TEST_CASE("models: an endpoint on a Unix socket, and a fallback behind a name") {
  models_fixture f(
      R"({"models": {"a": {"api": "openai-chat", "model": "m", "baseUrl": "unix:/run/x.sock", "fallbackModel": "b/c"},
    "b": {"api": "openai-chat", "model": "m", "fallbackModel": "demo"},
    "lonely": {"api": "openai-chat", "model": "m", "fallbackModel": "filed"}, "filed": {"api": "openai-chat", "model": "${env:MCPBX_TEST_A}"}}})");
  CHECK(f.error("a") == "found a m");
  CHECK(f.error("a/x") == "found a/x x");
  {
    const mcpbx::test::changed_variable unset("MCPBX_TEST_A", nullptr);
    CHECK(f.error("lonely") == "found lonely m");
    CHECK(f.models.find("lonely")->get() != f.models.find("lonely")->get());  // looked for again each time
  }
  const mcpbx::test::changed_variable set("MCPBX_TEST_A", "x");
  const auto both = f.models.find("lonely").value();
  CHECK(f.models.find("lonely").value() == both);
  const auto o = f.models.connection_options(*f.all.find_model("a"));
  REQUIRE(o);
  CHECK(o->wire.base_url == "unix:/run/x.sock");
}

TEST_CASE("G30: a key whose command hangs holds up that model alone, and its requests share one command") {
  const mcpbx::test::temporary_directory folder;
  const std::string go = folder.path() + "/go", runs = folder.path() + "/runs";
  const std::string command = "sh -c 'echo x >> " + runs + "; until [ -e " + go + " ]; do sleep 0.01; done; echo k'";
  std::string models;
  for (const char* name : {"a", "b", "c", "d", "e"})
    models += json_quoted(name) + R"(: {"api": "openai-chat", "model": "m", "apiKey": "${cmd:)" + command + R"(}"}, )";
  models_fixture f(R"({"models": {)" + models +
                   R"("fast": {"api": "openai-chat", "model": "m", "apiKey": "${cmd:echo k}"}}})");
  const auto guard = boost::asio::make_work_guard(f.io);
  int slow = 0, fast = 0;
  const auto ask = [&](const char* name, int& got) {
    const auto o = f.models.connection_options(*f.all.find_model(name));
    REQUIRE(o);
    for (int i = 0; i < 20; ++i)
      o->credentials([&](const result<std::vector<http::header>>& headers) {
        CHECK(headers);
        ++got;
      });
  };
  for (const char* name : {"a", "b", "c", "d", "e"}) ask(name, slow);
  ask("fast", fast);
  while (fast < 20) f.io.run_one();
  CHECK(slow == 0);
  std::ofstream(go).close();
  while (f.keys.busy() > 0) f.io.run_one();
  CHECK(slow == 100);
  std::ifstream ran(runs);
  CHECK(std::count(std::istreambuf_iterator<char>(ran), {}, 'x') == 5);
}

TEST_CASE("G30: the four time limits of an entry are those of its calls, and their errors say which one it was") {
  struct told final : providers::model_events {
    std::optional<providers::model_error> error;
    std::string text;
    void on_text(std::string_view d) override { text += d; }
    void on_reasoning(std::string_view) override {}
    void on_reply(providers::model_reply) override { FAIL("an answer"); }
    void on_error(providers::model_error e) override { error = std::move(e); }
  };
  struct row {
    std::string model, limits;
    std::chrono::seconds ends;
    std::string_view says;
  };
  for (const auto& r : std::vector<row>{
           {"hang-before-head", R"("firstByteTimeoutMs": 5000, "idleTimeoutMs": 3000, "totalTimeoutMs": 20000)",
            std::chrono::seconds(5), "5 s"},
           {"hang-mid-stream", R"("firstByteTimeoutMs": 5000, "idleTimeoutMs": 3000, "totalTimeoutMs": 20000)",
            std::chrono::seconds(3), "fell silent for 3 s"},
           {"hang-mid-stream", R"("firstByteTimeoutMs": 5000, "idleTimeoutMs": 30000, "totalTimeoutMs": 20000)",
            std::chrono::seconds(20), "20 s"}}) {
    CAPTURE(r.model);
    CAPTURE(r.limits);
    mcpbx::test::scripted_model server{{}};
    models_fixture f(R"({"models": {"m": {"api": "openai-chat", "model": ")" + r.model + R"(", "baseUrl": ")" +
                     server.url() + R"(", "maxRetries": 0, )" + r.limits + "}}}");
    told got;
    providers::model_request q;
    q.messages = {providers::user_message("hi")};
    const auto m = f.models.find("m");
    REQUIRE(m);
    const auto call = (*m)->start(std::move(q), got);
    const auto run = [&](auto until) {
      for (int i = 0; i < 1000 && !until(); ++i) {
        f.io.restart();
        f.io.run_for(milliseconds(10));
      }
      return until();
    };
    REQUIRE(run([&] { return r.model == "hang-before-head" ? server.bodies().size() == 1 : !got.text.empty(); }));
    // All that the server sends has been read when nothing more comes: it sends it at once.
    for (auto before = got.text.size() + 1; before != got.text.size();) {
      before = got.text.size();
      f.io.restart();
      f.io.run_for(milliseconds(50));
    }
    f.time.advance(r.ends - milliseconds(1));
    CHECK_FALSE(got.error);
    f.time.advance(milliseconds(1));
    REQUIRE(run([&] { return got.error.has_value(); }));
    CHECK(got.error->type == providers::model_error::kind::time_limit);
    CHECK_MESSAGE(contains(got.error->message, r.says), got.error->message);
    CHECK(server.wait_for("closed", 1));
  }
  models_fixture f(R"({"models": {"m": {"api": "openai-chat", "model": "x", "connectTimeoutMs": 2000}}})");
  CHECK(f.models.connection_options(*f.all.find_model("m"))->limits.connect == milliseconds(2000));
}

TEST_CASE("G35: what is secret in the query of an address is redacted") {
  models_fixture f(R"({"models": {
    "m": {"api": "openai-chat", "model": "x", "baseUrl": "https://h/v1?sig=${env:MCPBX_TEST_A}&api-key=canary-key-7"}}})");
  const mcpbx::test::changed_variable set("MCPBX_TEST_A", "canary-sig-7");
  redactor::clear();
  REQUIRE(f.models.connection_options(*f.all.find_model("m")));
  CHECK(redactor::redact("canary-sig-7 canary-key-7") == "*** ***");
  redactor::clear();
}

TEST_CASE("F1: models of every API are made, each at its provider's address") {
  models_fixture f(R"({"models": {
    "r": {"api": "openai-responses", "model": "x"}, "a": {"api": "anthropic", "model": "x", "apiVersion": "2023-06-01"}}})");
  CHECK(f.error("r") == "found r x");
  CHECK((*f.models.find("r"))->api() == "openai-responses");
  CHECK(f.error("a/claude") == "found a/claude claude");
  CHECK((*f.models.find("a"))->api() == "anthropic");
}

TEST_CASE("models: the system prompt of an entry becomes the model's") {
  models_fixture f(R"({"models": {"m": {"api": "openai-chat", "model": "x", "system": "Answer in ${env:MCPBX_TEST_A}."},
                           "n": {"api": "openai-chat", "model": "x"}}})");
  const mcpbx::test::changed_variable set("MCPBX_TEST_A", "Dutch");
  CHECK((*f.models.find("m"))->default_system() == "Answer in Dutch.");
  CHECK((*f.models.find("n"))->default_system() == "");
}

TEST_CASE("models: a replay plays its recording, or records the model that it names") {
  const mcpbx::test::temporary_directory folder;
  const auto path = folder / "talk.jsonl";
  models_fixture f(R"({"models": {"gpt": {"api": "openai-chat", "model": "gpt-x", "system": "Be brief."},
    "rec": {"api": "replay", "script": ")" +
                   path + R"(", "record": "gpt/small"}, "talk": {"api": "replay", "script": ")" + path + R"("},
    "own": {"api": "replay", "script": ")" +
                   path + R"(", "system": "Be long."}}})");
  CHECK(f.error("rec") == "found rec small");
  CHECK(f.error("rec/other") == "found rec other");
  CHECK((*f.models.find("rec"))->default_system() == "Be brief.");
  CHECK((*f.models.find("rec"))->api() == "openai-chat");
  CHECK(contains(f.error("talk"),
                 "model \"talk\": the recording " + path + " cannot be read: No such file or directory"));
  CHECK(f.models.find("talk").error().code == errc::config);
  folder.write("talk.jsonl", R"({"type":"recording","v":1,"api":"openai-chat","system":"Be brief."})"
                             "\n");
  CHECK(f.error("talk") == "found talk replay");
  CHECK((*f.models.find("talk"))->default_system() == "Be brief.");
  CHECK((*f.models.find("own"))->default_system() == "Be long.");
}

TEST_CASE("F8: a model takes as many tools as its entry says, else as its API is known to") {
  models_fixture f(R"({"models": {
    "chat": {"api": "openai-chat", "model": "x", "fallbackModel": "claude"}, "new": {"api": "openai-responses", "model": "x"},
    "azure": {"api": "azure", "model": "x", "baseUrl": "https://a.example"},
    "dial": {"api": "dial", "model": "x", "baseUrl": "https://d.example"},
    "claude": {"api": "anthropic", "model": "x"}, "gem": {"api": "gemini", "model": "x"},
    "local": {"api": "ollama", "model": "x"}, "some": {"api": "anthropic", "model": "x", "maxTools": 40},
    "many": {"api": "openai-chat", "model": "x", "maxTools": 0},
    "text": {"api": "openai-chat", "model": "x", "toolFormat": "react"},
    "few": {"api": "openai-chat", "model": "x", "toolFormat": "react", "maxTools": 5},
    "rec": {"api": "replay", "script": "/tmp/x.jsonl", "record": "some"}}})");
  const auto of = [&](std::string_view name) { return f.models.find(name).value()->max_tools(); };
  for (const auto* name : {"chat", "new", "azure", "dial"}) CHECK(of(name) == 128);
  for (const auto* name : {"claude", "gem", "local", "many", "text", "demo"}) CHECK(of(name) == 0);
  CHECK(of("some") == 40);
  CHECK(of("few") == 5);
  CHECK(of("rec") == 40);
}

// Every API through the real daemon: rounds with tools, what has to be sent back, and conversations that change their
// provider. The scripted model refuses what the real endpoints refuse.
#include "test/e2e/harness.hpp"

#include <doctest/doctest.h>

using namespace mcpbx::e2e;

namespace {

std::string entry_of(const model_process& model, std::string_view api) {
  return R"({"api":")" + std::string(api) + R"(","model":"text","maxRetries":0,"apiKey":"key-1234567","baseUrl":")" +
         model.url() + "\"}";
}

/// A daemon with one scripted tool server `s` and the scripted model as `a` (Messages) and `r` (Responses).
config speaking(const model_process& model) {
  return config()
      .server("s", {"--log", "@DIR@/log"})
      .model("a", entry_of(model, "anthropic"))
      .model("r", entry_of(model, "openai-responses"));
}

const std::string script =
    R"({"models":{"thinker":[)"
    R"({"reasoning":"Let me see.","text":"I look.","calls":[{"name":"s__echo","arguments":{"text":"one"}},{"name":"s__echo","arguments":{"text":"two"}}]},)"
    R"({"reasoning":"Once more.","calls":[{"name":"s__fail","arguments":{}}]},)"
    R"({"text":"All done."}],)"
    R"("pauser":[{"text":"Searching. ","finish":"pause_turn"},{"text":"Found it."}]}})";

}  // namespace

TEST_CASE("F1 L1: rounds with a tool each through the Messages and the Responses API") {
  model_process model;
  daemon_under_test d(speaking(model));
  for (const std::string api : {"a", "r"}) {
    CAPTURE(api);
    const auto before = model.count("request");
    const auto r = run_cli(d, {"ask", "-m", api + R"(/rounds-3 s__echo {"text":"from the tool"})", "question"});
    CHECK_MESSAGE(r.status == 0, r.err);
    CHECK(r.out == "Final: from the tool\n");
    CHECK(count_of(r.err, "-> s__echo") == 3);
    CHECK(model.count("request") == before + 4);
  }
  CHECK(contains(model.log(), R"("target":"/v1/messages")"));
  CHECK(contains(model.log(), R"("target":"/v1/responses")"));
  CHECK(contains(model.log(), R"("x-api-key")"));
  CHECK_FALSE(contains(model.log(), "key-1234567"));
}

TEST_CASE("L3 L12: thoughts go back as they came, with parallel calls, a failing tool and a second question") {
  model_process model(script);
  daemon_under_test d(speaking(model));
  for (const std::string api : {"a", "r"}) {
    CAPTURE(api);
    const auto r = run_cli(d, {"ask", "-m", api + "/thinker", "question"});
    CHECK_MESSAGE(r.status == 0, r.err);
    CHECK(contains(r.out, "All done."));
    CHECK(count_of(r.err, "-> s__echo") == 2);
    const auto again = run_cli(d, {"ask", "-c", "-m", api + "/rounds-1 s__echo", "more"});
    CHECK_MESSAGE(again.status == 0, again.err);
  }
  const auto log = model.log();
  CHECK(contains(
      log, R"({"type":"thinking","thinking":"Let me see.","signature":"c2lnbmVk"},{"type":"text","text":"I look."},)"));
  CHECK(contains(log, R"("is_error":true)"));
  CHECK(contains(log, R"("encrypted_content":"ZW5jcnlwdGVk"},{"id":"item_1","type":"message")"));
  CHECK(contains(log, R"("output":"Error: )"));
}

TEST_CASE("anthropic: a paused turn is gone on with, and the answer is what came last") {
  model_process model(script);
  daemon_under_test d(speaking(model));
  const auto r = run_cli(d, {"ask", "-m", "a/pauser", "question"});
  CHECK_MESSAGE(r.status == 0, r.err);
  CHECK(r.out == "Found it.\n");
  CHECK(model.count("request") == 2);
}

TEST_CASE("L3: a conversation that changes its provider is valid for each, and nobody sees another's thoughts") {
  model_process model(script);
  daemon_under_test d(speaking(model).model("c", model.entry()));
  bool first = true;
  for (const std::string api : {"a", "r", "c", "a", "r"}) {
    CAPTURE(api);
    const auto before = model.log().size();
    std::vector<std::string> words{"ask", "-m", api + (api == "c" ? R"(/rounds-2 s__echo {"text":"x"})" : "/thinker")};
    if (!first) words.push_back("-c");
    first = false;
    words.push_back("question");
    const auto r = run_cli(d, words);
    CHECK_MESSAGE(r.status == 0, r.err);
    if (api == "c") CHECK_FALSE(contains(model.log().substr(before), "Let me see."));
  }
}

TEST_CASE("F1: errors of the Messages and the Responses API are told with model, status and mend") {
  model_process model;
  daemon_under_test d(speaking(model));
  for (const std::string api : {"a", "r"}) {
    const auto busy = run_cli(d, {"ask", "-m", api + "/status-529-anthropic", "question"});
    CHECK(busy.status == 4);
    CHECK(contains(busy.err, "status 529: scripted failure. It is overloaded"));
    const auto cut = run_cli(d, {"ask", "-m", api + "/eof-before-finish", "question"});
    CHECK(cut.status == 4);
    CHECK(contains(cut.err, "cut off"));
    const auto key = run_cli(d, {"ask", "-m", api + "/status-401-echo-key", "question"});
    CHECK(contains(key.err, "Check the key"));
    CHECK_FALSE(contains(key.err, "key-1234567"));
  }
}

TEST_CASE("F1: gemini, ollama, azure and dial call tools and answer through the daemon") {
  struct row {
    std::string_view api, path, target, header;
  };
  for (const auto& r : {row{"gemini", "/v1beta", ":streamGenerateContent?alt=sse", "x-goog-api-key"},
                        row{"ollama", "", "/api/chat", "Authorization"},
                        row{"azure", "", "/chat/completions?api-version=2024-10-21", "api-key"},
                        row{"dial", "/core", "/core/openai/deployments/", "Api-Key"}}) {
    CAPTURE(r.api);
    model_process model;
    const auto base = model.url().substr(0, model.url().rfind("/v1"));
    daemon_under_test d(config()
                            .server("s")
                            .model("m", R"({"api":")" + std::string(r.api) +
                                            R"(","model":"text","apiKey":"k","maxRetries":0,"baseUrl":")" + base +
                                            std::string(r.path) + "\"}")
                            .top("defaultModel", "\"m\""));
    const auto answer = run_cli(d, {"ask", "-m", R"(m/rounds-2 s__echo {"text":"from the tool"})", "question"});
    CHECK_MESSAGE(answer.status == 0, answer.err);
    CHECK(answer.out == "Final: from the tool\n");
    CHECK(count_of(answer.err, "-> s__echo") == 2);
    CHECK(model.count("request") == 3);
    CHECK(contains(model.log(), r.target));
    CHECK(contains(model.log(), "\"" + std::string(r.header) + "\""));
  }
}

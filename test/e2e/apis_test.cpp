// Every API through the real daemon: rounds with tools, what has to be sent back, and conversations that change their
// provider. The scripted model refuses what the real endpoints refuse.
#include "test/e2e/harness/harness.hpp"

#include <doctest/doctest.h>

#include <fstream>
#include <sstream>

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

// The bodies of all requests, byte for byte: the last member of a line of the log.
std::vector<std::string> bodies_of(const model_process& model) {
  constexpr std::string_view key = R"(,"body":)";
  std::vector<std::string> all;
  std::istringstream lines(model.log());
  for (std::string line; std::getline(lines, line);) {
    const auto at = line.find(key);
    if (at == std::string::npos) continue;
    REQUIRE(line.ends_with('}'));
    all.push_back(line.substr(at + key.size(), line.size() - at - key.size() - 1));
  }
  return all;
}

// Returns the part of a body with which the next body must begin, and the rest behind the conversation. Anthropic's
// cache marks move with the newest messages and are ignored.
std::pair<std::string, std::string> cached_part(std::string body) {
  constexpr std::string_view mark = R"(,"cache_control":{"type":"ephemeral"})";
  for (auto at = body.find(mark); at != std::string::npos; at = body.find(mark, at)) body.erase(at, mark.size());
  const auto tools = body.find(R"(],"tools":[)");
  const auto behind = body.rfind(R"("messages":[)", tools) == std::string::npos ? std::string::npos : tools;
  if (behind != std::string::npos) return {body.substr(0, behind), body.substr(behind)};
  REQUIRE(body.ends_with("]}"));
  return {body.substr(0, body.size() - 2), {}};
}

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

TEST_CASE("L10 L3: after calls of names that no API takes, and blanks, every provider goes on with the session") {
  const std::string longest(100, 'x');
  std::string calls;
  for (const std::string name : {"multi_tool_use.parallel", "functions.s__hum", "no such tool!", "s__echo ", "s.echo"})
    calls += R"({"name":")" + name + R"(","arguments":{}},)";
  model_process model(R"({"models":{"dreamer":[{"reasoning":"Let me see.","text":"\n\n","calls":[)" + calls +
                      R"({"name":")" + longest + R"(","arguments":{}}]},{"text":"No tool did it."}]}})");
  const auto base = model.url().substr(0, model.url().rfind("/v1"));
  daemon_under_test d(speaking(model)
                          .model("c", model.entry())
                          .model("g", R"({"api":"gemini","model":"text","maxRetries":0,"apiKey":"k","baseUrl":")" +
                                          base + "/v1beta\"}"));
  for (const std::string api : {"a", "r", "c", "g"}) {
    CAPTURE(api);
    const auto r = run_cli(d, {"ask", "-m", api + "/dreamer", "question"});
    CHECK_MESSAGE(r.status == 0, r.err);
    CHECK(contains(r.out, "No tool did it."));
    CHECK(count_of(r.err, "there is no tool named") == 6);
    for (const std::string other : {"a", "r", "c", "g"}) {
      CAPTURE(other);
      const auto next = run_cli(d, {"ask", "-c", "-m", other + "/text", "more"});
      CHECK_MESSAGE(next.status == 0, next.err);
    }
  }
  CHECK(contains(model.log(), R"(there is no tool named \"functions.s__hum\" here. )"));
  CHECK_FALSE(contains(read_file(d.file("log")), "call echo"));
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

TEST_CASE("F1: azure and dial: a configured Authorization goes in place of the key, because they refuse both") {
  for (const std::string api : {"azure", "dial"}) {
    CAPTURE(api);
    model_process model;
    const auto base = model.url().substr(0, model.url().rfind("/v1"));
    daemon_under_test d(config()
                            .model("m", R"({"api":")" + api +
                                            R"(","model":"text","apiKey":"k","maxRetries":0,"baseUrl":")" + base +
                                            R"(","headers":{"authorization":"Bearer token-1234567"}})")
                            .top("defaultModel", "\"m\""));
    CHECK(run_cli(d, {"ask", "question"}).status == 0);
    CHECK(contains(model.log(), "\"authorization\""));
    CHECK_FALSE(contains(model.log(), "\"api-key\""));
    CHECK_FALSE(contains(model.log(), "\"Api-Key\""));
  }
}

TEST_CASE("F1: what a model reads keeps its bytes over rounds, sessions and the daemon's end, for its prompt cache") {
  const std::string talk =
      R"({"models":{"talk":[)"
      R"({"reasoning":"Two.","text":"I look.","calls":[{"name":"s__echo","arguments":{"text":"one"}},{"name":"s__add","arguments":{"a":1, "b":2.50}}]},)"
      R"({"reasoning":"So.","text":"answer 1"},)"
      R"({"calls":[{"name":"s__fail","arguments":{}}]},{"text":"answer 3"},)"
      R"({"reasoning":"Once more.","calls":[{"name":"s__echo","arguments":{"text":"\u00e9\ud83d\ude00"}}]},{"text":"answer 5"}]}})";
  struct row {
    std::string api, path;
  };
  for (const auto& [api, path] : std::vector<row>{{"openai-chat", "/v1"},
                                                  {"openai-responses", "/v1"},
                                                  {"anthropic", "/v1"},
                                                  {"gemini", "/v1beta"},
                                                  {"ollama", ""},
                                                  {"azure", ""},
                                                  {"dial", "/core"}}) {
    CAPTURE(api);
    model_process model(talk);
    const auto base = model.url().substr(0, model.url().rfind("/v1"));
    daemon_under_test d(config()
                            .server("t")
                            .server("s")
                            .model("m", R"({"api":")" + api +
                                            R"(","model":"talk","apiKey":"k","maxRetries":0,"baseUrl":")" + base +
                                            path + "\"}")
                            .top("defaultModel", "\"m\""));
    std::ofstream(d.file("dot.png"), std::ios::binary) << "\x89PNG\r\n\x1a\n";
    d.wait_ready({"s", "t"});
    const auto ask = [&](std::vector<std::string> words, std::string_view answer) {
      words.insert(words.begin(), "ask");
      const auto r = run_cli(d, words);
      CHECK_MESSAGE(r.status == 0, r.err);
      CHECK(contains(r.out, answer));
    };
    ask({"--file", d.file("dot.png"), "question 0"}, "answer 1");
    ask({"-c", "question 1"}, "answer 3");
    CHECK(d.stop().status == 0);
    d.start();
    d.wait_ready({"t", "s"});
    ask({"-c", "question 2"}, "answer 5");
    ask({"--file", d.file("dot.png"), "question 0"}, "answer 1");

    const auto sent = bodies_of(model);
    REQUIRE(sent.size() == 8);
    CHECK(sent[6] == sent[0]);
    CHECK(sent[7] == sent[1]);
    const auto first = cached_part(sent[0]);
    CHECK(first.second.empty() == (api != "openai-chat" && api != "azure" && api != "dial"));
    for (std::size_t i = 1; i < 6; ++i) {
      CAPTURE(i);
      const auto before = cached_part(sent[i - 1]), now = cached_part(sent[i]);
      CHECK(now.first.size() > before.first.size());
      CHECK_MESSAGE(now.first.starts_with(before.first), before.first << "\n" << now.first);
      CHECK(now.second == first.second);
    }
    CHECK(contains(sent[5], "answer 3"));
    CHECK(contains(sent[5], "iVBORw0KGgo"));
  }
}

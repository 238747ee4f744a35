// `ask --dry-run` and `ask --editor`, and sessions that go on from an earlier message.
#include "test/e2e/harness/harness.hpp"
#include "test/e2e/harness/pseudo_terminal.hpp"

#include <doctest/doctest.h>

#include <sys/stat.h>

#include <string>
#include <string_view>

using namespace mcpbx::e2e;

namespace {

config with_model(const model_process& model) {
  return config()
      .server("s", {"--log", "@DIR@/log"})
      .model("m", model.entry())
      .model("far", R"({"api":"openai-chat","model":"x","apiKey":"k","baseUrl":"https://models.example:8443/v1"})")
      .model("demo", R"({"api":"rehearsal"})")
      .top("profiles", R"({"few":{"tools":{"allow":["s__echo","s__add"]}}})")
      .top("defaultModel", "\"m\"");
}

// Writes a program that acts as an editor.
void write_editor(const world& w, std::string_view text) {
  w.write("editor", "#!/bin/sh\n" + std::string(text));
  REQUIRE(::chmod(w.file("editor").c_str(), 0700) == 0);
}

}  // namespace

TEST_CASE("ask: --dry-run tells model, endpoint, tools and size, and calls no model and begins no run") {
  model_process model;
  daemon_under_test d(with_model(model));
  d.wait_ready({"s"});
  const auto r = run_cli(d, {"--json", "ask", "--dry-run", "-p", "few", "question"});
  CHECK_MESSAGE(r.status == 0, r.err);
  const auto told = json::parse(r.out);
  CHECK(at(told, "dryRun") == json::value(true));
  CHECK(text_at(told, "model") == "m");
  CHECK(text_at(told, "host") == "127.0.0.1");
  CHECK(text_at(told, "cost") == "local");
  CHECK(text_at(told, "profile") == "few");
  CHECK(at(told, "tools") == json::parse(R"(["s__add","s__echo"])"));
  CHECK(at(told, "messages") == json::value(2));
  CHECK(at(told, "promptBytes").as_int64() > 100);
  const auto tokens = at(told, "promptBytes").as_int64() + at(told, "toolBytes").as_int64();
  CHECK(at(told, "estimatedTokens").as_int64() == tokens / 4 + 1);
  CHECK(model.count("request") == 0);
  const auto longer =
      json::parse(run_cli(d, {"--json", "ask", "--dry-run", "-p", "few", "question"}, std::string(10'000, 'x')).out);
  CHECK(at(longer, "promptBytes").as_int64() >= at(told, "promptBytes").as_int64() + 10'000);
  const auto far =
      json::parse(run_cli(d, {"--json", "ask", "--dry-run", "-m", "far/other", "--tools", "none*", "q"}).out);
  CHECK(text_at(far, "host") == "models.example");
  CHECK(text_at(far, "cost") == "provider");
  CHECK(text_at(far, "id") == "other");
  CHECK(at(far, "tools").as_array().empty());
  CHECK(text_at(json::parse(run_cli(d, {"--json", "ask", "--dry-run", "-m", "demo", "q"}).out), "cost") == "none");
  const auto table = run_cli(d, {"ask", "--dry-run", "-p", "few", "--resource", "file:///x", "question"}).out;
  CHECK(contains(table, "s__add, s__echo"));
  CHECK(contains(table, "file:///x"));
  CHECK(run_cli(d, {"ask", "--dry-run", "-m", "nope", "q"}).status != 0);
  CHECK(run_cli(d, {"ask", "--dry-run", "-s", "ses_none", "q"}).status == 5);
  CHECK(contains(run_cli(d, {"--json", "sessions"}).out, "[]"));
  CHECK(contains(run_cli(d, {"--json", "status"}).out, R"("active":0)"));
  CHECK(model.count("request") == 0);
}

TEST_CASE("ask: --dry-run in a session counts what was said there and keeps to its terms") {
  model_process model;
  daemon_under_test d(with_model(model));
  d.wait_ready({"s"});
  CHECK(run_cli(d, {"ask", "-p", "few", "a first question of some length"}).status == 0);
  const auto told = json::parse(run_cli(d, {"--json", "ask", "-c", "--dry-run", "more"}).out);
  CHECK(at(told, "messages") == json::value(4));
  CHECK(text_at(told, "profile") == "few");
  CHECK(at(told, "tools").as_array().size() == 2);
  CHECK(model.count("request") == 1);
  caller c = d.connect();
  const auto wrong = c.request("mcpbx/chat", R"({"run":"r","dryRun":true,"messages":[{"role":"tool","content":[)"
                                             R"({"type":"tool_result","id":"x","result":{"content":[]}}]}]})");
  CHECK(contains(wrong.message(), "params.dryRun"));
}

TEST_CASE("ask: --editor takes the question from the editor, and an empty text ends with a sentence and status 2") {
  model_process model;
  daemon_under_test d(with_model(model));
  write_editor(d, "printf 'from the editor\\nsecond line\\n' >>\"$1\"\nls -l \"$1\" >seen\n");
  d.env.push_back("EDITOR=./editor");
  pseudo_terminal asked(d, {"ask", "--editor", "begun: "});
  CHECK(asked.wait() == 0);
  CHECK(contains(model.log(), R"(begun: from the editor\nsecond line")"));
  CHECK(read_file(d.file("seen")).starts_with("-rw-------"));
  write_editor(d, ": >\"$1\"\n");
  pseudo_terminal empty(d, {"ask", "--editor"});
  CHECK(empty.wait() == 2);
  CHECK(contains(empty.shown, "the text is empty, so nothing was asked"));
  write_editor(d, "exit 3\n");
  pseudo_terminal failed(d, {"ask", "--editor", "text"});
  CHECK(failed.wait() == 2);
  CHECK(contains(failed.shown, "failed with status 3, so nothing was asked"));
  CHECK(model.count("request") == 1);
}

TEST_CASE("ask: --editor without a terminal or an editor says so") {
  model_process model;
  daemon_under_test d(with_model(model));
  for (auto& e : d.env)
    if (e.starts_with("PATH=")) e = "PATH=" + d.dir();  // no editor there either
  pseudo_terminal none(d, {"ask", "--editor"});
  CHECK(none.wait() == 2);
  CHECK(contains(none.shown, "set VISUAL or EDITOR"));
  CHECK(model.count("request") == 0);
}

TEST_CASE("L17: keep begins a new session with the first messages of another one, with its terms and foreign words") {
  model_process model(
      R"({"models":{"talk":[{"calls":[{"name":"s__echo","arguments":{"text":"hi"}}]},{"text":"one"},{"text":"two"},{"text":"three"}]}})");
  daemon_under_test d(with_model(model));
  d.wait_ready({"s"});
  caller c = d.connect();
  const auto first = c.request("mcpbx/chat", R"({"input":"first","model":"m/talk","profile":"few"})");
  const auto session = text_at(first.value, "result.session");
  const auto go_on = [&](const std::string& more) {
    return c.request("mcpbx/chat", R"({"model":"m/talk","session":")" + session + "\"," + more + "}");
  };
  CHECK(text_at(go_on(R"("input":"second")").value, "result.text") == "two");
  const auto forked = go_on(R"("keep":4,"input":"other")");
  CHECK(text_at(forked.value, "result.text") == "two");
  const auto beside = text_at(forked.value, "result.session");
  CHECK(beside != session);
  const auto log = model.log();
  const auto last = log.substr(log.rfind(R"("event":"request")"));
  CHECK(contains(last, "first"));
  CHECK(contains(last, "other"));
  CHECK_FALSE(contains(last, "second"));
  CHECK(contains(last, "s__echo"));
  CHECK_FALSE(contains(last, "s__counter"));
  model.check_results();
  // Both sessions go on, also after a restart of the daemon.
  CHECK(d.stop().status == 0);
  d.start();
  d.wait_ready({"s"});
  caller again = d.connect();
  const auto read = [&](const std::string& id) {
    return again.request("mcpbx/sessions/get", R"({"session":")" + id + "\"}").get("result.total");
  };
  CHECK(read(session) == json::value(6));
  CHECK(read(beside) == json::value(6));
  CHECK(text_at(again.request("mcpbx/chat", R"({"model":"m/talk","session":")" + beside + R"(","input":"more"})").value,
                "result.text") == "three");
  model.check_results();
}

TEST_CASE("L17: keep refuses places that would tear a call from its result, and more messages than there are") {
  model_process model(
      R"({"models":{"talk":[{"calls":[{"name":"s__echo","arguments":{"text":"hi"}}]},{"text":"one"}]}})");
  daemon_under_test d(with_model(model));
  d.wait_ready({"s"});
  caller c = d.connect();
  const auto session =
      text_at(c.request("mcpbx/chat", R"({"input":"first","model":"m/talk"})").value, "result.session");
  const auto refusal = [&](const std::string& more) {
    return c.request("mcpbx/chat", R"({"session":")" + session + "\"," + more + "}").message();
  };
  CHECK(contains(refusal(R"("keep":2,"input":"q")"), "expected the number of a message of the user, got 2"));
  CHECK(contains(refusal(R"("keep":3,"input":"q")"), "expected the number of a message of the user, got 3"));
  CHECK(contains(refusal(R"("keep":5,"input":"q")"), "has only 4 messages"));
  CHECK(contains(refusal(R"("keep":0)"), "no question waits for an answer there"));
  CHECK(contains(c.request("mcpbx/chat", R"({"keep":1,"input":"q"})").message(), "expected a session beside it"));
  CHECK(contains(run_cli(d, {"--json", "sessions"}).out, R"("runCount":1)"));
  // Kept up to a question, the model answers it again.
  const auto answered = c.request("mcpbx/chat", R"({"session":")" + session + R"(","keep":1,"model":"m/talk"})");
  CHECK(text_at(answered.value, "result.text") == "one");
  model.check_results();
}

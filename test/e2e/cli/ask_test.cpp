// Questions: the loop with a scripted model and scripted tools, through the CLI and through mcpbx/chat.
#include "test/e2e/harness/harness.hpp"

#include <doctest/doctest.h>

#include <signal.h>

#include <fstream>

using namespace mcpbx::e2e;

namespace {

/// A daemon with one scripted tool server `s` and the scripted model as `m`, the default.
config asking(const model_process& model, std::string_view more = {}) {
  return config()
      .server("s", {"--log", "@DIR@/log", "--counter-file", "@DIR@/count"})
      .model("m", model.entry(more))
      .top("defaultModel", "\"m\"");
}

/// The lines of `ask --json`.
std::vector<json::value> events(const std::string& out) {
  std::vector<json::value> all;
  for (std::size_t begin = 0, end; (end = out.find('\n', begin)) != std::string::npos; begin = end + 1)
    all.push_back(parse(out.substr(begin, end - begin)));
  return all;
}

}  // namespace

TEST_CASE("E4: the offline model answers with real tools, and says that it is no language model") {
  daemon_under_test d(config().entry("toolbox", R"({"command":"mcpbx-toolbox","args":["@DIR@"]})"));
  const auto r = run_cli(d, {"ask", "-m", "demo", "What is 17*23?"});
  CHECK_MESSAGE(r.status == 0, r.err);
  CHECK(contains(r.out, "391"));
  CHECK(contains(r.out, "language model"));
  CHECK(contains(r.err, "-> toolbox__"));
}

TEST_CASE("ask: without a model the sentence names -m demo, and the status is 2") {
  daemon_under_test d(config().server("s"));
  const auto r = run_cli(d, {"ask", "question"});
  CHECK(r.status == 2);
  CHECK(contains(r.err, "-m demo"));
  CHECK(r.out.empty());
  const auto unknown = run_cli(d, {"ask", "-m", "demon", "question"});
  CHECK(unknown.status == 2);
  CHECK(contains(unknown.err, "demo"));
}

TEST_CASE("L1: three rounds with a tool each, then the answer") {
  model_process model;
  daemon_under_test d(asking(model));
  const auto r = run_cli(d, {"ask", "-m", R"(m/rounds-3 s__echo {"text":"from the tool"})", "question"});
  CHECK_MESSAGE(r.status == 0, r.err);
  CHECK(r.out == "Final: from the tool\n");
  CHECK(count_of(r.err, "-> s__echo") == 3);
  CHECK(model.count("request") == 4);
  CHECK(count_of(read_file(d.file("log")), "call echo") == 3);
}

TEST_CASE("ask: --file sends an image and a text with the question, and a file that is neither is status 2") {
  model_process model;
  daemon_under_test d(asking(model));
  const auto image = d.file("a.png"), text = d.file("a.md"), other = d.file("a.bin");
  std::ofstream(image, std::ios::binary) << "\x89PNG\r\n\x1a\n";
  std::ofstream(text) << "# Lamps";
  std::ofstream(other, std::ios::binary) << '\0';
  const auto r = run_cli(d, {"ask", "--file", image, "--file", text, "what is it?"});
  CHECK_MESSAGE(r.status == 0, r.err);
  CHECK(contains(model.log(), "data:image/png;base64,iVBORw0KGgo="));
  CHECK(contains(model.log(), "# Lamps"));
  const auto refused = run_cli(d, {"ask", "--file", other, "what is it?"});
  CHECK(refused.status == 2);
  CHECK(contains(refused.err, "the file a.bin is neither text"));
}

TEST_CASE("D3: --json gives one event per line, numbers rise, the result comes last") {
  model_process model;
  daemon_under_test d(asking(model));
  const auto r = run_cli(d, {"--json", "ask", "-m", R"(m/rounds-2 s__echo {"text":"t"})", "question"});
  CHECK(r.status == 0);
  const auto all = events(r.out);
  REQUIRE(all.size() > 8);
  std::int64_t last = -1;
  std::size_t calls = 0, results = 0;
  std::string text;
  for (const auto& e : all) {
    CHECK(at(e, "seq").to_number<std::int64_t>() > last);
    last = at(e, "seq").to_number<std::int64_t>();
    calls += text_at(e, "type") == "tool_call";
    results += text_at(e, "type") == "tool_result";
    if (text_at(e, "type") == "text") text += text_at(e, "text");
  }
  CHECK(calls == 2);
  CHECK(results == 2);
  CHECK(text == "Final: t");
  const auto& done = all.back();
  CHECK(text_at(done, "type") == "done");
  CHECK(contains(json::serialize(done), R"("stopReason":"final")"));
}

TEST_CASE("L16: the result of mcpbx/chat tells text, reason, rounds, calls, tokens and messages") {
  model_process model;
  daemon_under_test d(asking(model));
  caller c = d.connect();
  const auto r =
      c.request("mcpbx/chat", R"({"input":"question","model":"m/rounds-2 s__echo {\"text\":\"t\"}","stream":false})");
  CHECK(text_at(r.value, "result.text") == "Final: t");
  CHECK(text_at(r.value, "result.stopReason") == "final");
  CHECK(r.get("result.rounds") == json::value(3));
  CHECK(r.get("result.toolCalls").as_array().size() == 2);
  CHECK(text_at(r.value, "result.toolCalls.0.name") == "s__echo");
  CHECK(text_at(r.value, "result.toolCalls.0.server") == "s");
  CHECK(r.get("result.toolCalls.0.isError") == json::value(false));
  CHECK(r.get("result.usage.inputTokens") == json::value(33));
  CHECK(r.get("result.messages").as_array().size() >= 6);
  for (const auto& n : c.notifications) CHECK(text_at(n, "params.type") != "text");
  CHECK(c.request("mcpbx/status").get("result.runs.total") == json::value(1));
}

TEST_CASE("G40: a profile gives its model the instructions of the servers whose tools it offers") {
  model_process model;
  daemon_under_test d(
      config()
          .server("s")
          .server("t")
          .model("m", model.entry())
          .top("profiles", R"({"told":{"model":"m","tools":{"allow":["s__*"]},"loop":{"serverInstructions":true}}})"));
  d.wait_ready({"s", "t"});
  caller c = d.connect();
  const auto system = [&](const std::string& model_name) {
    const auto r = c.request("mcpbx/chat", R"({"input":"q","model":")" + model_name + "\"}");
    CHECK_MESSAGE(text_at(r.value, "result.messages.0.role") == "system", r.line);
    return text_at(r.value, "result.messages.0.content.0.text") + text_at(r.value, "result.messages.0.content.1.text");
  };
  const auto told = system("profile:told");
  CHECK(contains(told, "\n\n[Instructions of tool servers "));
  CHECK(contains(told, "\nTool server \"s\":\n  A server for tests.\n[End of the instructions of tool servers "));
  CHECK(contains(model.log(), "[Instructions of tool servers "));
  CHECK_FALSE(contains(system("m"), "A server for tests."));
}

TEST_CASE("M4: ask -p runs under a profile: its model, its tools, its limits, and an unknown one is status 2") {
  model_process model;
  daemon_under_test d(config()
                          .server("s", {"--log", "@DIR@/log"})
                          .model("m", model.entry())
                          .top("profiles",
                               R"({"echoer":{"model":"m/rounds-3 s__echo {\"text\":\"t\"}","system":"Echo.",)"
                               R"("tools":{"allow":["s__echo"]},"loop":{"maxRounds":2}}})")
                          .top("defaultModel", R"("profile:echoer")"));
  d.wait_ready({"s"});
  for (const auto& words : std::vector<std::vector<std::string>>{
           {"ask", "-p", "echoer", "question"}, {"ask", "-m", "profile:echoer", "question"}, {"ask", "question"}}) {
    const auto before = count_of(read_file(d.file("log")), "call echo");
    const auto r = run_cli(d, words);
    CHECK_MESSAGE(r.status == 0, r.err);
    CHECK(contains(r.err, "mcpbx: the limit of 2 rounds was reached; the answer was made from"));
    CHECK(count_of(read_file(d.file("log")), "call echo") == before + 2);
  }
  CHECK(contains(model.log(), "Echo."));
  CHECK_FALSE(contains(model.log(), "s__counter"));
  const auto unknown = run_cli(d, {"ask", "-p", "ehcoer", "question"});
  CHECK(unknown.status == 2);
  CHECK(contains(unknown.err, R"(there is no profile "ehcoer" (did you mean "echoer"?))"));
  const auto listed = run_cli(d, {"tools", "-p", "echoer"});
  CHECK(contains(listed.out, "s__echo"));
  CHECK_FALSE(contains(listed.out, "s__counter"));
  const auto none = run_cli(d, {"tools", "-p", "x"});
  CHECK(none.status == 2);
  CHECK(contains(none.err, "there is no profile"));
}

TEST_CASE("L23: the result has the value of an answer that fits, and the model is told once what does not") {
  model_process model(
      R"({"models":{"once":[{"text":"seven"},{"text":"{\"n\":7}"}],"never":[{"text":"7"},{"text":"8"}]}})");
  daemon_under_test d(asking(model));
  caller c = d.connect();
  const auto ask = [&](const std::string& name) {
    return c.request("mcpbx/chat", R"({"input":"q","model":"m/)" + name +
                                       R"(","responseFormat":{"type":"json_schema","schema":{"type":"object"}}})");
  };
  const auto good = ask("once");
  CHECK(text_at(good.value, "result.stopReason") == "final");
  CHECK(good.get("result.data.n") == json::value(7));
  CHECK(good.get("result.rounds") == json::value(2));
  CHECK(contains(model.log(), "Your answer does not have the form that was asked for"));
  const auto bad = ask("never");
  CHECK(text_at(bad.value, "result.stopReason") == "provider_error");
  CHECK(contains(text_at(bad.value, "result.reason"), "answer: expected an object"));
}

TEST_CASE("L15: with --status model the line about the tool is the status model's") {
  model_process model;
  daemon_under_test d(asking(model, R"("loop":{"statusModel":"q/text Waiting for a file"})").model("q", model.entry()));
  d.wait_ready({"s"});
  const auto asked = start_cli(d, {"--json", "ask", "--status", "model", "-m",
                                   R"(m/rounds-1 s__wait_for_file {"path":")" + d.file("go") + R"("})", "question"});
  while (!contains(asked->read_line(), "Waiting for a file...")) {
  }
  d.write("go", "");
  const auto end = asked->wait();
  CHECK(end.status == 0);
}

TEST_CASE("L12: calls of one round run in parallel, and their results keep the order of the calls") {
  world places;
  // The first call ends only when the second one has run.
  model_process model(R"({"models":{"two":[{"calls":[{"name":"a__wait_for_file","arguments":{"path":")" +
                      places.file("count") + R"("}},{"name":"b__counter","arguments":{}}]}]}})");
  daemon_under_test d(
      config().server("a").server("b", {"--counter-file", places.file("count")}).model("m", model.entry()));
  d.wait_ready({"a", "b"});
  caller c = d.connect();
  const auto r = c.request("mcpbx/chat", R"({"input":"q","model":"m/two"})");
  CHECK(text_at(r.value, "result.toolCalls.0.name") == "a__wait_for_file");
  CHECK(text_at(r.value, "result.toolCalls.1.name") == "b__counter");
  CHECK(text_at(r.value, "result.text") == "Final: 1");
  const auto many = c.request("mcpbx/chat", R"({"input":"q","model":"m/parallel-5 a__echo {\"text\":\"t\"}"})");
  CHECK(many.get("result.toolCalls").as_array().size() == 5);
}

TEST_CASE("L20: what a tool server logs while a call runs is told as an event of that call") {
  model_process model;
  daemon_under_test d(asking(model));
  d.wait_ready({"s"});
  caller c = d.connect();
  const auto r = c.request("mcpbx/chat", R"({"input":"q","model":"m/rounds-1 s__log {\"text\":\"half way\"}"})");
  CHECK(text_at(r.value, "result.stopReason") == "final");
  int logs = 0;
  for (const auto& n : c.notifications) {
    if (text_at(n, "params.type") != "tool_log") continue;
    ++logs;
    CHECK(text_at(n, "params.call") == text_at(r.value, "result.toolCalls.0.id"));
    CHECK(text_at(n, "params.level") == "info");
    CHECK(text_at(n, "params.data") == "half way");
  }
  CHECK(logs == 1);
}

TEST_CASE("L13 G3: a call that nobody allows to repeat is made once when its server dies, an allowed one again") {
  for (const bool allowed : {false, true}) {
    CAPTURE(allowed);
    model_process model;
    daemon_under_test d(config()
                            .server("s", {"--log", "@DIR@/log"}, allowed ? R"("tools":{"retry":["crash-*"]})" : "")
                            .model("m", model.entry()));
    d.wait_ready({"s"});
    caller c = d.connect();
    const auto r = c.request("mcpbx/chat", R"({"input":"q","model":"m/rounds-1 s__crash-in-call"})");
    CHECK(text_at(r.value, "result.stopReason") == "final");
    CHECK(count_of(read_file(d.file("log")), "\ncall crash-in-call") == (allowed ? 3 : 1));
  }
}

TEST_CASE("L14: a large result is cut for the model, with how to read on, and whole for the caller") {
  model_process model;
  daemon_under_test d(asking(model));
  d.wait_ready({"s"});
  caller c = d.connect();
  const auto r = c.request("mcpbx/chat", R"({"input":"q","model":"m/rounds-1 s__big {\"n\":300000}"})");
  CHECK(text_at(r.value, "result.stopReason") == "final");
  CHECK(contains(r.line, "mcpbx__read_result"));
  bool whole = false;
  for (const auto& n : c.notifications)
    if (text_at(n, "params.type") == "tool_result")
      whole = text_at(n, "params.content.0.text") == std::string(300'000, 'a');
  CHECK(whole);
}

TEST_CASE("L9 L10: errors of tools go to the model and the run goes on") {
  model_process model;
  daemon_under_test d(asking(model));
  d.wait_ready({"s"});
  struct row {
    std::string model, answer;
    bool executed;
  };
  const row rows[] = {{"rounds-1 s__fail", "This tool always fails.", true},
                      {"rounds-1 s__error", "This tool answers an error.", true},
                      {"rounds-1 s__crash-in-call", "\"s\"", true},
                      {"unknown-tool", "no_such_tool", false},
                      {"bad-args s__echo", "JSON", false},
                      {"args-not-object s__echo", "object", false}};
  for (const auto& row : rows) {
    CAPTURE(row.model);
    REQUIRE(eventually([&] { return d.connect().state("s") == "ready"; }));
    const auto before = count_of(read_file(d.file("log")), "\ncall ");
    const auto r = run_cli(d, {"ask", "-m", "m/" + row.model, "question"});
    CHECK_MESSAGE(r.status == 0, r.err);
    CHECK_MESSAGE(contains(r.out, row.answer), r.out);
    CHECK(contains(r.err, "<- error: "));
    CHECK((count_of(read_file(d.file("log")), "\ncall ") > before) == row.executed);
  }
}

TEST_CASE("L9: three failing rounds in a row end the run with status 1 and the reason") {
  model_process model;
  daemon_under_test d(asking(model));
  const auto r = run_cli(d, {"ask", "-m", "m/tool-loop s__fail", "question"});
  CHECK(r.status == 1);
  CHECK(contains(r.err, "Unable to complete task"));
  CHECK(count_of(read_file(d.file("log")), "call fail") == 3);
}

TEST_CASE("L4 L5: used up rounds end with one call without tools, a note and status 0") {
  model_process model;
  daemon_under_test d(asking(model));
  const auto r = run_cli(d, {"ask", "--max-rounds", "2", "-m", R"(m/rounds-9 s__echo {"text":"so far"})", "question"});
  CHECK_MESSAGE(r.status == 0, r.err);
  CHECK(contains(r.out, "so far"));
  CHECK(contains(r.err, "mcpbx: the limit of 2 rounds was reached; the answer was made from"));
  CHECK(model.count("request") == 3);
  caller c = d.connect();
  const auto stop = c.request("mcpbx/chat", R"({"input":"q","model":"m/tool-loop s__echo {\"text\":\"x\"}",)"
                                            R"("limits":{"maxRounds":2,"onLimit":"stop"}})");
  CHECK(text_at(stop.value, "result.stopReason") == "max_rounds");
  CHECK_FALSE(text_at(stop.value, "result.reason").empty());
}

TEST_CASE(
    "L5 L8 L11: an answer that was made at another limit is status 0 with a note, no answer at a limit status 1") {
  model_process model;
  daemon_under_test d(asking(model).top("profiles", R"({"strict":{"loop":{"onLimit":"stop"}}})"));
  d.wait_ready({"s"});
  const auto answered = run_cli(d, {"ask", "-m", R"(m/rounds-9 s__echo {"text":"so far"})", "question"});
  CHECK_MESSAGE(answered.status == 0, answered.err);
  CHECK_FALSE(answered.out.empty());
  CHECK(contains(answered.err,
                 "mcpbx: the model made the same call of \"s__echo\" more than 3 times in a row; the answer"));
  const auto stopped =
      run_cli(d, {"ask", "-p", "strict", "--max-rounds", "2", "-m", R"(m/rounds-9 s__echo {"text":"so far"})", "q"});
  CHECK(stopped.status == 1);
  CHECK(contains(stopped.err, "Unable to complete task: the limit of 2 rounds was reached"));
}

TEST_CASE("L8: the time of a run is bounded, also while a tool hangs") {
  model_process model;
  daemon_under_test d(asking(model).top("loop", R"({"timeoutMs":500})"));
  d.wait_ready({"s"});
  const auto r = run_cli(d, {"ask", "-m", "m/rounds-1 s__cancel-ack", "question"});
  CHECK(r.status == 1);
  CHECK(contains(r.err, "500 ms"));
  CHECK(eventually([&] { return contains(read_file(d.file("log")), "\ncancel-ack "); }));
}

TEST_CASE("G28 G29: a broken answer of the model is status 4 and executes nothing") {
  model_process model;
  daemon_under_test d(asking(model));
  d.wait_ready({"s"});
  const std::vector<std::string> broken{"eof-before-finish", "eof-in-tool-args", "chunk-truncate", "reset",
                                        "wrong-length",      "empty-body",       "error-event",    "json-error-200",
                                        "garbage",           "garbage-html",     "garbage-http",   "status-401",
                                        "status-500-html",   "redirect"};
  for (const auto& fault : broken) {
    CAPTURE(fault);
    const auto r = run_cli(d, {"ask", "-m", "m/" + fault + R"( s__echo {"text":"never"})", "question"});
    CHECK(r.status == 4);
    CHECK(contains(r.err, "mcpbx: "));
    CHECK(contains(r.err, "The model \""));
  }
  // Cut off by its length, it is no failure of the provider but no answer either.
  CHECK(run_cli(d, {"ask", "-m", R"(m/length-in-tool-args s__echo {"text":"never"})", "question"}).status == 1);
  CHECK_FALSE(contains(read_file(d.file("log")), "call echo"));
  CHECK(run_cli(d, {"ask", "question"}).out == "Hello from the scripted model.\n");
}

TEST_CASE("ask: a model that cannot be reached is status 4 and names the address") {
  daemon_under_test d(
      config().model("m", R"({"api":"openai-chat","model":"x","baseUrl":"http://127.0.0.1:1/v1","maxRetries":0})"));
  const auto r = run_cli(d, {"ask", "-m", "m", "question"});
  CHECK(r.status == 4);
  CHECK_MESSAGE(count_of(r.err, "127.0.0.1:1") == 1, r.err);
  CHECK_MESSAGE(contains(r.err, "\nmcpbx: "), r.err);
  CHECK_MESSAGE(count_of(r.err, "\n") == 2, r.err);
}

TEST_CASE("ask: a key that is not there is status 2, with the model, the variable and the mend") {
  model_process model;
  daemon_under_test d(config()
                          .model("by-env", model.entry(R"("apiKey":"${env:E2E_IS_NOT_SET}")"))
                          .model("by-file", model.entry(R"("apiKey":"${file:@DIR@/no-such-key}")"))
                          .model("by-header", model.entry(R"("headers":{"X-Team":"${env:E2E_IS_NOT_SET}"})")));
  for (const std::string name : {"by-env", "by-file", "by-header"}) {
    CAPTURE(name);
    const auto r = run_cli(d, {"ask", "-m", name, "question"});
    CHECK(r.status == 2);
    CHECK(r.out.empty());
    CHECK_MESSAGE(contains(r.err, "model \"" + name + "\""), r.err);
    CHECK_MESSAGE(contains(r.err, name == "by-file" ? "no-such-key" : "E2E_IS_NOT_SET is not set: set it where"),
                  r.err);
    CHECK(run_cli(d, {"--json", "ask", "-m", name, "question"}).status == 2);
  }
}

TEST_CASE("ask: options reach the model, and - reads the question from standard input") {
  model_process model;
  daemon_under_test d(asking(model));
  d.wait_ready({"s"});
  const auto r = run_cli(d, {"ask", "--system", "be brief", "--tools", "s__echo,s__a*", "--no-stream", "-"},
                         "the question\nwith two lines");
  CHECK(r.status == 0);
  CHECK(r.out == "Hello from the scripted model.\n");
  const auto request = model.log();
  CHECK(contains(request, "be brief"));
  CHECK(contains(request, R"(the question\nwith two lines)"));
  CHECK(contains(request, "s__echo"));
  CHECK(contains(request, "s__add"));
  CHECK_FALSE(contains(request, "s__fail"));
}

// Runs at the CLI that outlive a command, ask for a form, or hand calls to a shell: detach, attach, cancel, --schema,
// --client-tools (L16, L18, L19, L21).
#include "test/e2e/harness/harness.hpp"
#include "test/e2e/harness/pseudo_terminal.hpp"

#include <doctest/doctest.h>

#include <string>
#include <vector>

using namespace mcpbx::e2e;

namespace {

constexpr std::string_view approval_prompt = "[y/N/a/s] ";

config run_verbs_config(const model_process& model, std::string_view more = {}) {
  return config().server("s", {"--log", "@DIR@/log"}, more).model("m", model.entry()).top("defaultModel", "\"m\"");
}

/// A model whose run waits in a tool until the file is there.
std::string run_until_file(const daemon_under_test& d, std::string_view file) {
  return R"(m/rounds-1 s__wait_for_file {"path":")" + d.file(file) + R"("})";
}

}  // namespace

TEST_CASE("L18: ask --detach prints the run's name and how to come back, and attach follows it during and after it") {
  model_process model;
  daemon_under_test d(run_verbs_config(model));
  d.wait_ready({"s"});
  const auto begun = run_cli(d, {"ask", "--detach", "--run", "mine", "-m", run_until_file(d, "go"), "question"});
  CHECK_MESSAGE(begun.status == 0, begun.err);
  CHECK(begun.out == "mine\n");
  CHECK(contains(begun.err, "`mcpbx attach mine` follows it, `mcpbx cancel mine` ends it"));
  const auto again =
      run_cli(d, {"--json", "ask", "--detach", "--run", "mine", "-m", run_until_file(d, "go"), "question"});
  CHECK(text_at(parse(again.out), "run") == "mine");
  CHECK(text_at(parse(again.out), "session").starts_with("ses_"));
  CHECK(again.err.empty());
  const auto following = start_cli(d, {"--json", "attach", "mine"});
  std::string line;
  while (!contains(line, "tool_call")) line = following->read_line();
  d.write("go", "");
  CHECK(following->wait().status == 0);
  const auto late = run_cli(d, {"attach", "mine"});
  CHECK_MESSAGE(late.status == 0, late.err);
  CHECK(late.out.starts_with("Final: "));
  CHECK(contains(late.err, "-> s__wait_for_file"));
  const auto seq = at(parse(line), "seq").as_int64();
  const auto rest = run_cli(d, {"--json", "attach", "mine", "--after", std::to_string(seq)});
  CHECK(at(parse(rest.out.substr(0, rest.out.find('\n'))), "seq").as_int64() == seq + 1);
  CHECK(model.count("request") == 2);
  const auto unknown = run_cli(d, {"attach", "yours"});
  CHECK(unknown.status == 5);
  CHECK(contains(unknown.err, "no run is named \"yours\""));
}

TEST_CASE("L18: a detached question under the name of a run that has ended starts nothing, and is no success") {
  model_process model;
  daemon_under_test d(run_verbs_config(model));
  d.wait_ready({"s"});
  const std::vector<std::string> nightly{"ask", "--detach", "--run", "night ly", "q"};
  const auto refused_again = [&] {
    const auto again = run_cli(d, nightly);
    CHECK(again.status == 2);
    CHECK(again.out.empty());
    CHECK(again.err ==
          "mcpbx: nothing was started, because the run 'night ly' had the same question and has ended; "
          "`mcpbx attach 'night ly'` shows its end, and another --run NAME asks anew\n");
  };
  REQUIRE(run_cli(d, nightly).status == 0);
  REQUIRE(run_cli(d, {"attach", "night ly"}).status == 0);
  refused_again();
  const auto other = run_cli(d, {"ask", "--detach", "--run", "night ly", "another"});
  CHECK(other.status == 2);
  CHECK(contains(other.err, "mcpbx attach 'night ly'"));
  // Then only the journal knows the run.
  d.stop();
  d.start();
  refused_again();
  CHECK(model.count("request") == 1);
}

TEST_CASE("L18: cancel ends a run for whoever follows it, and one that is unknown is status 5") {
  model_process model;
  daemon_under_test d(run_verbs_config(model));
  d.wait_ready({"s"});
  REQUIRE(run_cli(d, {"ask", "--detach", "--run", "two words", "-m", run_until_file(d, "go"), "q"}).status == 0);
  const auto following = start_cli(d, {"--json", "attach", "two words"});
  while (!contains(following->read_line(), "tool_call")) {
  }
  const auto done = run_cli(d, {"cancel", "two words"});
  CHECK_MESSAGE(done.status == 0, done.err);
  CHECK(done.out.empty());
  CHECK(following->wait().status == 1);
  CHECK(contains(following->err, "the run was cancelled"));
  for (const bool in_memory : {true, false}) {
    if (!in_memory) d.stop();
    if (!in_memory) d.start();
    const auto ended = run_cli(d, {"cancel", "two words"});
    CHECK(ended.status == 5);
    CHECK(ended.err == "mcpbx: the run \"two words\" has ended already; `mcpbx attach 'two words'` shows its end\n");
  }
  const auto unknown = run_cli(d, {"cancel", "nobody"});
  CHECK(unknown.status == 5);
  CHECK(contains(unknown.err, "no run is named \"nobody\""));
}

TEST_CASE("L18: an interrupt of attach leaves a detached run, and says how to come back to where it was") {
  model_process model;
  daemon_under_test d(run_verbs_config(model));
  d.wait_ready({"s"});
  REQUIRE(run_cli(d, {"ask", "--detach", "--run", "mine", "-m", run_until_file(d, "go"), "q"}).status == 0);
  const auto following = start_cli(d, {"--json", "attach", "mine"});
  std::string line;
  while (!contains(line, "tool_call")) line = following->read_line();
  following->signal(SIGINT);
  CHECK(following->wait().status == 130);
  const auto seq = std::to_string(at(parse(line), "seq").as_int64());
  CHECK_MESSAGE(contains(following->err, "`mcpbx attach --after "), following->err);
  d.write("go", "");
  const auto rest = run_cli(d, {"attach", "mine", "--after", seq});
  CHECK(rest.status == 0);
  CHECK(rest.out.starts_with("Final: "));
  CHECK_FALSE(contains(rest.err, "-> s__wait_for_file"));
}

TEST_CASE("L18: a detached run needs a daemon that stays") {
  world w;
  const auto r = run_cli(w, {"--standalone", "ask", "--detach", "q"});
  CHECK(r.status == 2);
  CHECK(contains(r.err, "leave out --standalone or --detach"));
}

TEST_CASE(
    "L19: a detached run asks whoever attaches at a terminal, and a question that is answered is not asked again") {
  model_process model;
  daemon_under_test d(run_verbs_config(model, R"("approve":["ec*"])"));
  d.wait_ready({"s"});
  REQUIRE(run_cli(d, {"ask", "--detach", "--approve", "ask", "--run", "mine", "-m",
                      R"(m/rounds-1 s__echo {"text":"hello"})", "q"})
              .status == 0);
  const auto piped = start_cli(d, {"attach", "mine"});
  pseudo_terminal first(d, {"attach", "mine"}), second(d, {"attach", "mine"});
  first.read_until(approval_prompt);
  second.read_until(approval_prompt);
  CHECK(contains(first.shown, "  tool:      \"s__echo\""));
  CHECK_FALSE(contains(read_file(d.file("log")), "call echo"));
  first.type("y\n");
  CHECK(first.wait() == 0);
  CHECK(contains(first.shown, "Final: hello"));
  CHECK_FALSE(contains(first.shown, "somebody else"));
  CHECK(second.wait() == 0);
  CHECK(contains(second.shown, "somebody else has answered: yes"));
  CHECK(piped->wait().status == 0);
  CHECK(contains(piped->err, "the call of \"s__echo\" waits for a yes; `mcpbx attach mine` at a terminal asks for it"));
  CHECK(count_of(read_file(d.file("log")), "call echo") == 1);
  pseudo_terminal late(d, {"attach", "mine"});
  CHECK(late.wait() == 0);
  CHECK(contains(late.shown, "Final: hello"));
  CHECK_FALSE(contains(late.shown, "somebody else"));
}

TEST_CASE("L19: always at the terminal answers the questions about the same tool that are open, and asks no more") {
  model_process model;
  daemon_under_test d(run_verbs_config(model, R"("approve":["ec*"])"));
  d.wait_ready({"s"});
  pseudo_terminal asked(d, {"ask", "-m", R"(m/parallel-3 s__echo {"text":"hello"})", "q"});
  asked.read_until(approval_prompt);
  asked.type("a\n");
  CHECK(asked.wait() == 0);
  CHECK(count_of(asked.shown, approval_prompt) == 1);
  CHECK_FALSE(contains(asked.shown, "somebody else"));
  CHECK(count_of(read_file(d.file("log")), "call echo") == 3);
}

TEST_CASE("L19: who attaches after a run has asked is asked as well, and a refusal there is one") {
  model_process model;
  daemon_under_test d(run_verbs_config(model, R"("approve":["ec*"])"));
  d.wait_ready({"s"});
  REQUIRE(run_cli(d, {"ask", "--detach", "--approve", "ask", "--run", "mine", "-m",
                      R"(m/rounds-1 s__echo {"text":"hello"})", "q"})
              .status == 0);
  const auto watching = start_cli(d, {"--json", "attach", "mine"});
  while (!contains(watching->read_line(), R"("type":"question")")) {
  }
  pseudo_terminal late(d, {"attach", "mine"});
  late.read_until(approval_prompt);
  late.type("\n");
  CHECK(late.wait() == 0);
  CHECK(contains(late.shown, "the user refused this call"));
  CHECK_FALSE(contains(read_file(d.file("log")), "call echo"));
  CHECK(watching->wait().status == 0);
}

TEST_CASE("L23: ask --schema prints the JSON only, or nothing where there is no such answer") {
  model_process model(
      R"({"models":{"once":[{"text":"seven"},{"text":"{\"n\":\n7}\n"}],"never":[{"text":"7"},{"text":"8"}]}})");
  daemon_under_test d(run_verbs_config(model));
  const auto good = run_cli(d, {"ask", "--schema", R"({"type":"object","required":["n"]})", "-m", "m/once", "q"});
  CHECK_MESSAGE(good.status == 0, good.err);
  CHECK(at(parse(good.out), "n") == json::value(7));
  CHECK(count_of(good.out, "\n") == 1);
  const auto file = d.write("schema.json", "{\n  \"type\": \"object\"\n}\n");
  const auto bad = run_cli(d, {"ask", "--schema", file, "-m", "m/never", "q"});
  CHECK(bad.status == 4);
  CHECK(bad.out.empty());
  CHECK(contains(bad.err, "answer: expected an object"));
  for (const std::string wrong : {"{\"type\":", "/no/such/file", R"({"type":"objekt"})"}) {
    const auto r = run_cli(d, {"ask", "--schema", wrong, "q"});
    CHECK_MESSAGE(r.status == 2, r.err);
    CHECK(r.out.empty());
  }
}

TEST_CASE("L21: ask --client-tools prints the calls for the shell, and --results goes on with what it gives back") {
  model_process model;
  daemon_under_test d(run_verbs_config(model));
  const auto tools = d.write("tools.json", R"([{"name":"mine","description":"d",
    "inputSchema":{"type":"object","properties":{"text":{"type":"string"}}}}])");
  const auto ask = [&](const std::string& run) {
    return run_cli(
        d, {"ask", "--client-tools", tools, "--run", run, "-m", R"(m/parallel-2 mine {"text":"for you"})", "q"});
  };
  const auto handed = ask("talk");
  CHECK_MESSAGE(handed.status == 0, handed.err);
  REQUIRE(count_of(handed.out, "\n") == 2);
  const auto middle = handed.out.find('\n');
  const auto one = parse(handed.out.substr(0, middle)), two = parse(handed.out.substr(middle + 1));
  CHECK(text_at(one, "run") == "talk");
  CHECK(text_at(one, "name") == "mine");
  CHECK(text_at(one, "arguments.text") == "for you");
  CHECK(text_at(one, "id") != text_at(two, "id"));
  CHECK(contains(handed.err, "`mcpbx ask --run=talk --results FILE` goes on"));
  // A later attach shows the same.
  CHECK(run_cli(d, {"attach", "talk"}).out == handed.out);
  const auto in_openai_form = d.write("openai.json", R"([{"type":"function","function":{"name":"mine",
    "parameters":{"type":"object","properties":{"text":{"type":"string"}}}}}])");
  const auto same = run_cli(d, {"ask", "--client-tools", in_openai_form, "-m", R"(m/rounds-1 mine {"text":"x"})", "q"});
  CHECK_MESSAGE(same.status == 0, same.err);
  CHECK(text_at(parse(same.out), "arguments.text") == "x");
  const auto results = [](const json::value& first, const json::value& second, std::string_view value) {
    return "{" + json_string(text_at(first, "id")) + ": \"mine!\",\n" + json_string(text_at(second, "id")) + ": " +
           std::string(value) + "}\n";
  };
  const auto wrong = run_cli(d, {"ask", "--run", "talk", "--results", "-"}, results(one, two, "7"));
  CHECK(wrong.status == 2);
  CHECK(contains(wrong.err, "to be a text or a result as tools give it"));
  const auto done = run_cli(d, {"ask", "--run", "talk", "--results", "-"},
                            results(one, two, R"({"content":[{"type":"text","text":"and mine!"}]})"));
  CHECK_MESSAGE(done.status == 0, done.err);
  CHECK(done.out == "Final: and mine!\n");
  const auto gone = run_cli(d, {"ask", "--run", "nobody", "--results", "-"}, R"({"a":"b"})");
  CHECK(gone.status == 5);
  const auto unnamed = run_cli(d, {"ask", "--results", "-"}, R"({"a":"b"})");
  CHECK(unnamed.status == 2);
  CHECK(contains(unnamed.err, "write --run NAME"));
  const auto file = d.write("bad.json", R"({"name":"mine"})");
  const auto refused = run_cli(d, {"ask", "--client-tools", file, "q"});
  CHECK(refused.status == 2);
  CHECK(contains(refused.err, "--client-tools: expected an array of definitions"));
}

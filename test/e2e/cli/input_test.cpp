// Questions that tool servers ask people during calls: of runs through the socket and at a terminal, of `mcpbx call`,
// and the answers that mcpbx gives itself.
#include "test/e2e/harness/harness.hpp"
#include "test/e2e/harness/pseudo_terminal.hpp"

#include <doctest/doctest.h>

#include <string>
#include <string_view>

using namespace mcpbx::e2e;

namespace {

config input_config(const model_process& model, std::string_view more = "") {
  return config()
      .server("s", {"--log", "@DIR@/log", "--offer", "questions"}, more)
      .model("m", model.entry())
      .top("defaultModel", "\"m\"");
}

constexpr std::string_view asking_model = "m/rounds-1 s__ask_user";

std::string input_chat(std::string_view more) {
  return R"({"input":"q","model":"m/rounds-1 s__ask_user {}")" + std::string(more) + "}";
}

std::string input_answer_of(const json::value& question, std::string_view rest) {
  return "{\"run\":" + json_string(text_at(question, "params.run")) +
         ",\"question\":" + json_string(text_at(question, "params.question")) + "," + std::string(rest) + "}";
}

}  // namespace

TEST_CASE("L19: what a server asks during a call of a run is answered through the socket and checked first") {
  model_process model;
  daemon_under_test d(input_config(model));
  d.wait_ready({"s"});
  caller c = d.connect();
  const auto run = c.start("mcpbx/chat", input_chat(R"(,"answers":true)"));
  const auto q = c.wait_event("question");
  CHECK(text_at(q, "params.kind") == "input");
  CHECK(text_at(q, "params.server") == "s");
  CHECK(text_at(q, "params.message") == "What is your name?");
  const auto wrong = c.request("mcpbx/answer", input_answer_of(q, R"("action":"accept","content":{"name":7})"));
  CHECK(contains(wrong.message(), "params.content.name: expected a text, got 7"));
  CHECK(c.request("mcpbx/answer", input_answer_of(q, R"("approve":true)")).failed());
  CHECK_FALSE(c.request("mcpbx/answer", input_answer_of(q, R"("action":"accept","content":{"name":"Ada"})")).failed());
  CHECK(contains(text_at(c.wait(run).value, "result.text"), "Ada"));
}

TEST_CASE("L19: a caller that has not said that it answers gets no question and the server a decline") {
  model_process model;
  daemon_under_test d(input_config(model));
  d.wait_ready({"s"});
  caller c = d.connect();
  const auto r = c.wait(c.start("mcpbx/chat", input_chat("")));
  CHECK(contains(text_at(r.value, "result.text"), "decline"));
  const auto piped = run_cli(d, {"ask", "-m", std::string(asking_model) + " {}", "q"});
  CHECK(contains(piped.out, "decline"));
  CHECK(contains(piped.err, "asked for input, which was declined"));
}

TEST_CASE("L19: a person answers a server's question at the terminal of ask and of call") {
  model_process model;
  daemon_under_test d(input_config(model));
  d.wait_ready({"s"});
  pseudo_terminal ask(d, {"ask", "-m", std::string(asking_model) + " {}", "q"});
  ask.read_until("[y/N] ");
  CHECK(contains(ask.shown, "the tool server \"s\" asks for input"));
  ask.type("y\n");
  ask.read_until("> ");
  ask.type("Ada\n");
  CHECK(ask.wait() == 0);
  CHECK(contains(ask.shown, "Ada"));
  pseudo_terminal call(d, {"call", "s__ask_user"});
  call.read_until("[y/N] ");
  CHECK(contains(call.shown, "the tool server \"s\" asks for input"));
  call.type("y\n");
  call.read_until("> ");
  call.type("Grace\n");
  CHECK(call.wait() == 0);
  CHECK(contains(call.shown, R"("name":"Grace")"));
  pseudo_terminal cancelled(d, {"call", "s__ask_user"});
  cancelled.read_until("[y/N] ");
  cancelled.type("\x03");
  CHECK(cancelled.wait() == 0);
  CHECK(contains(cancelled.shown, R"("action":"cancel")"));
}

TEST_CASE("L19: --input answers by rule and ask needs a terminal") {
  model_process model;
  daemon_under_test d(input_config(model));
  d.wait_ready({"s"});
  const auto accepted = run_cli(d, {"call", "--input", "accept", "s__ask_many", "n=1"});
  CHECK(accepted.status == 0);
  CHECK_MESSAGE(contains(accepted.out, R"({"action":"accept","content":{}})"), accepted.out);
  const auto declined = run_cli(d, {"call", "--input", "decline", "s__ask_many", "n=1"});
  CHECK_MESSAGE(contains(declined.out, R"({"action":"decline"})"), declined.out);
  const auto none = run_cli(d, {"call", "s__ask_many", "n=1"});
  CHECK_MESSAGE(contains(none.out, R"({"action":"decline"})"), none.out);
  const auto ask = run_cli(d, {"call", "--input", "ask", "s__ask_many", "n=1"});
  CHECK(ask.status == 2);
  CHECK(contains(ask.err, "--input ask needs a terminal"));
  const auto run = run_cli(d, {"ask", "--input", "accept", "-m", R"(m/rounds-1 s__ask_many {"n":1})", "q"});
  CHECK_MESSAGE(contains(run.out, "accept"), run.out);
}

TEST_CASE("a server's roots and sampling are answered from its entry for callers that cannot answer") {
  model_process model;
  daemon_under_test d(input_config(model, R"("roots":["/srv/data"],"sampling":{"model":"m","perMinute":2})"));
  d.wait_ready({"s"});
  const auto roots = run_cli(d, {"call", "s__ask_many", "n=1", "method=roots/list"});
  CHECK_MESSAGE(contains(roots.out, R"({"roots":[{"uri":"file:///srv/data"}]})"), roots.out);
  const auto sampled = run_cli(d, {"call", "s__ask_many", "n=3", "method=sampling/createMessage"});
  CHECK_MESSAGE(count_of(sampled.out, "\"role\":\"assistant\"") == 2, sampled.out);
  CHECK_MESSAGE(contains(sampled.out, "too many sampling requests in the last minute"), sampled.out);
}

TEST_CASE("L19: a question about the prompt that a run begins with is answered by a person or by a rule") {
  for (const std::string era : {"legacy", "modern"}) {
    CAPTURE(era);
    model_process model;
    daemon_under_test d(config()
                            .server("s", {"--era", era, "--offer", "prompts"})
                            .model("m", model.entry())
                            .top("defaultModel", "\"m\""));
    d.wait_ready({"s"});
    const std::vector<std::string> words{"-m", "m/rounds-0", "--prompt", "s__ask_prompt", "go"};
    const auto with = [&](std::vector<std::string> first) {
      first.insert(first.end(), words.begin(), words.end());
      return first;
    };
    const auto accepted = run_cli(d, with({"--json", "ask", "--input", "accept"}));
    CHECK_MESSAGE(accepted.status == 0, accepted.err);
    CHECK_MESSAGE(contains(accepted.out, R"(answer: {\"action\":\"accept\")"), accepted.out);
    const auto declined = run_cli(d, with({"--json", "ask", "--input", "decline"}));
    CHECK_MESSAGE(contains(declined.out, R"(answer: {\"action\":\"decline\"})"), declined.out);
    // Without a terminal nobody is there to be asked, and the server hears that.
    const auto piped = run_cli(d, with({"--json", "ask"}));
    CHECK_MESSAGE(contains(piped.out + piped.err, "decline"), (piped.out + piped.err));
    pseudo_terminal ask(d, with({"ask"}));
    ask.read_until("[y/N] ");
    CHECK(contains(ask.shown, "the tool server \"s\" asks for input"));
    CHECK(contains(ask.shown, "Whom?"));
    ask.type("y\n");
    ask.read_until("> ");
    ask.type("Ada\n");
    CHECK(ask.wait() == 0);
    CHECK_MESSAGE(contains(model.log(), "Ada"), model.log());
    pseudo_terminal left(d, with({"ask"}));
    left.read_until("[y/N] ");
    left.type("\x03");
    left.wait();
    CHECK(count_of(model.log(), "Ada") == 1);
  }
}

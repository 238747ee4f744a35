// Models that are told of tools in text, through the whole product.
#include "test/e2e/harness/harness.hpp"

#include <doctest/doctest.h>

#include <string>
#include <string_view>
#include <vector>

using namespace mcpbx::e2e;

namespace {

// Replies one after another.
std::string script_of(const std::vector<std::string>& replies) {
  std::string turns;
  for (const auto& text : replies) turns += (turns.empty() ? "{\"text\":" : ",{\"text\":") + json_string(text) + "}";
  return R"({"models":{"local":[)" + turns + "]}}";
}

// One reply with a call as text, then the answer.
std::string script(std::string_view call, std::string_view answer) {
  return R"({"models":{"local":[{"text":)" + json::serialize(json::string(call)) + R"(},{"text":)" +
         json::serialize(json::string(answer)) + "}]}}";
}

config asking(const model_process& model, std::string_view format) {
  return config()
      .server("s", {"--log", "@DIR@/log"})
      .model("m", model.entry(R"("toolFormat":")" + std::string(format) + "\""))
      .top("defaultModel", "\"m\"");
}

}  // namespace

TEST_CASE("F2: a model that writes hermes calls has its tool run, and nobody sees a mark") {
  model_process model(
      script("Let me look.\n<tool_call>\n{\"name\": \"s__echo\", \"arguments\": {'text': 'from the tool',}}\n"
             "</tool_call>",
             "It says: from the tool"));
  daemon_under_test d(asking(model, "hermes"));
  const auto r = run_cli(d, {"--json", "ask", "-m", "m/local", "question"});
  CHECK_MESSAGE(r.status == 0, r.err);
  CHECK(count_of(read_file(d.file("log")), "call echo") == 1);
  CHECK(contains(r.out, R"("text":"It says: from the tool")"));
  CHECK(contains(r.out, "Let me look."));
  CHECK_FALSE(contains(r.out, "tool_call>"));
  CHECK_FALSE(contains(r.out, "tool_response"));
  // The model got the tools in the system prompt, its own words and the result as text.
  const auto log = model.log();
  CHECK_FALSE(contains(log, R"("tools":[)"));
  CHECK(contains(log, "s__echo"));
  CHECK(contains(log, R"(<tool_response>\nfrom the tool\n</tool_response>)"));
  CHECK(model.count("request") == 2);
}

TEST_CASE("F2: a model that writes ReAct has its first action run, and what it made up behind it is dropped") {
  model_process model(
      script("Thought: I should ask the tool.\nAction: s__echo\nAction Input: {\"text\": \"42\"}\nObservation: "
             "7\nThought: done\nFinal Answer: made up",
             "Thought: I know it now.\nFinal Answer: The tool says 42."));
  daemon_under_test d(asking(model, "react"));
  const auto r = run_cli(d, {"--json", "ask", "-m", "m/local", "question"});
  CHECK_MESSAGE(r.status == 0, r.err);
  CHECK(count_of(read_file(d.file("log")), "call echo") == 1);
  CHECK(contains(r.out, "The tool says 42."));
  for (const auto* mark : {"Action:", "Action Input", "Observation", "Final Answer", "Thought:", "made up"})
    CHECK_FALSE(contains(r.out, mark));
  const auto log = model.log();
  CHECK(contains(log, R"("stop":["\nObservation:"])"));
  CHECK(contains(log, "Observation: 42"));
  CHECK_FALSE(contains(log, "made up"));
}

TEST_CASE("F2: a call whose arguments stand on several lines reaches the tool as one message") {
  model_process model(
      script("<tool_call>\n{\n  \"name\": \"s__echo\",\n  \"arguments\": {\n    \"text\": \"spread out\"\n  }\n}\n"
             "</tool_call>",
             "It says: spread out"));
  daemon_under_test d(asking(model, "hermes"));
  const auto r = run_cli(d, {"--json", "ask", "-m", "m/local", "question"});
  CHECK_MESSAGE(r.status == 0, r.err);
  CHECK(count_of(read_file(d.file("log")), "call echo") == 1);
  CHECK(contains(model.log(), R"(<tool_response>\nspread out\n</tool_response>)"));
}

TEST_CASE(
    "F4: a call that is all a model with native tools wrote is run and logged, and its form stays the first time") {
  model_process model(
      script("<tool_call>{\"name\": \"s__echo\", \"arguments\": {\"text\": \"again\"}}</tool_call>", "It said again."));
  daemon_under_test d(asking(model, "auto"));
  const auto r = run_cli(d, {"--json", "ask", "-m", "m/local", "question"});
  CHECK_MESSAGE(r.status == 0, r.err);
  CHECK(count_of(read_file(d.file("log")), "call echo") == 1);
  CHECK(contains(r.out, "It said again."));
  CHECK_FALSE(contains(r.out, "tool_call>"));
  CHECK(d.logs("wrote a tool call as text; it is run like any other"));
  CHECK(d.logs("deprecated"));
  CHECK_FALSE(contains(d.log(), "from now on"));
}

TEST_CASE("F6: a call that its server gave back unread is run, and one that nobody can read is told the model") {
  model_process model(
      R"({"models":{"local":[{"fault":"failed-generation","text":"<function=s__echo{\"text\": \"from groq\"}</function>"},)"
      R"({"fault":"failed-generation","text":"I would call s__echo."},{"text":"It said so."}]}})");
  daemon_under_test d(asking(model, "native"));
  const auto r = run_cli(d, {"--json", "ask", "-m", "m/local", "question"});
  CHECK_MESSAGE(r.status == 0, r.err);
  CHECK(contains(r.out, "It said so."));
  CHECK(count_of(read_file(d.file("log")), "call echo") == 1);
  const auto log = model.log();
  CHECK(contains(log, R"("function":{"name":"s__echo","arguments":"{\"text\": \"from groq\"}"})"));
  CHECK(contains(log, R"("role":"tool")"));
  CHECK(contains(log, "could not be read (there is no call in it)"));
  CHECK(model.count("request") == 3);
  CHECK(d.logs("it was read from what the model wrote"));
}

TEST_CASE("F2: several rounds of a text format, each with the results of those before it, come to the answer") {
  const auto act = [](const std::string& text) {
    return "Thought: one more.\nAction: s__echo\nAction Input: {\"text\": \"" + text + "\"}\nObservation:";
  };
  model_process model(script_of({act("first"), act("second"), act("third"), "Final Answer: all three"}));
  daemon_under_test d(asking(model, "react"));
  const auto r = run_cli(d, {"ask", "-m", "m/local", "question"});
  CHECK_MESSAGE(r.status == 0, r.err);
  CHECK(r.out == "all three\n");
  CHECK(count_of(read_file(d.file("log")), "call echo") == 3);
  CHECK(model.count("request") == 4);
  const auto log = model.log();
  const auto last = log.substr(log.rfind("\"event\":\"request\""));
  for (const auto* result : {"Observation: first", "Observation: second", "Observation: third"})
    CHECK_MESSAGE(contains(last, result), result);
}

TEST_CASE("L5: a text format at its limit of rounds answers without a tool, and a call in that answer is not run") {
  const std::string call = "Action: s__echo\nAction Input: {\"text\": \"again\"}";
  model_process model(script_of({call, call, "Final Answer: that will do"}));
  daemon_under_test d(asking(model, "react"));
  const auto r = run_cli(d, {"--json", "ask", "-m", "m/local", "--max-rounds", "2", "question"});
  CHECK_MESSAGE(r.status == 0, r.err);
  CHECK(contains(r.out, R"("stopReason":"max_rounds")"));
  CHECK(contains(r.out, R"("text":"that will do")"));
  CHECK(count_of(read_file(d.file("log")), "call echo") == 2);
  // One that calls in its last answer too: nothing more is run, nobody sees a mark, and the reason is told.
  model_process calls_on(script_of({call, call, call}));
  daemon_under_test other(asking(calls_on, "react"));
  const auto ended = run_cli(other, {"--json", "ask", "-m", "m/local", "--max-rounds", "2", "question"});
  CHECK(calls_on.count("request") == 3);
  CHECK(count_of(read_file(other.file("log")), "call echo") == 2);
  CHECK(contains(ended.out, R"("stopReason":"max_rounds")"));
  for (const auto* mark : {"Action:", "Action Input"}) CHECK_FALSE(contains(ended.out, mark));
}

// The parts of a question at the command line: its words and what is piped in.
#include "test/e2e/harness/harness.hpp"

#include <doctest/doctest.h>

using namespace mcpbx::e2e;

namespace {

// A daemon with the scripted model as the default.
config asking(const model_process& model) {
  return config().model("m", model.entry()).top("defaultModel", "\"m\"");
}

}  // namespace

TEST_CASE("ask: what is piped in reaches the model behind the question, marked as input") {
  model_process model;
  daemon_under_test d(asking(model));
  const auto r = run_cli(d, {"ask", "Summarize this"}, "the data\n");
  CHECK_MESSAGE(r.status == 0, r.err);
  CHECK(r.err.find("standard input") == std::string::npos);
  const auto log = model.log();
  const auto question = log.find("Summarize this"), input = log.find(R"(Standard input:\n\nthe data\n)");
  REQUIRE(input != std::string::npos);
  CHECK(question < input);
}

TEST_CASE("ask: without input the question is sent as before, and - alone makes the input the question") {
  model_process model;
  daemon_under_test d(asking(model));
  for (const std::string_view blank : {"", " \n"}) CHECK(run_cli(d, {"ask", "one"}, blank).status == 0);
  CHECK(run_cli(d, {"ask", "--no-input", "two"}, "the data").status == 0);
  CHECK(run_cli(d, {"ask", "-"}, "three").status == 0);
  CHECK(run_cli(d, {"ask", "--schema", "-", "four"}, R"({"type":"object"})").status != 2);
  CHECK_FALSE(contains(model.log(), "Standard input"));
  CHECK_FALSE(contains(model.log(), "the data"));
  CHECK(contains(model.log(), "three"));
}

TEST_CASE("ask: a pipe that nobody writes to does not hold up the question, and the CLI says so") {
  model_process model;
  daemon_under_test d(asking(model));
  const auto asked = start_cli(d, {"ask", "question"});
  CHECK(asked->wait().status == 0);
  CHECK(contains(asked->err, "nothing came on standard input within 3 s, so the question is asked without it"));
  const auto unread = start_cli(d, {"ask", "--no-input", "question"});
  CHECK(unread->wait().status == 0);
  CHECK_FALSE(contains(unread->err, "standard input"));
}

TEST_CASE("ask: more input than fits, and input that no model reads, are status 2 and nothing is asked") {
  model_process model;
  daemon_under_test d(asking(model));
  const auto much = run_cli(d, {"ask", "question"}, std::string((16u << 20) + 1, 'x'));
  CHECK(much.status == 2);
  CHECK(much.err == "mcpbx: standard input holds more than 16 MiB; give less of it, or --no-input to ask without it\n");
  const auto unreadable = run_cli(d, {"ask", "question"}, "\xff\xfe");
  CHECK(unreadable.status == 2);
  CHECK(contains(unreadable.err, "standard input is neither text"));
  CHECK(model.count("request") == 0);
}

TEST_CASE("ask: words without quotes are one question") {
  model_process model;
  daemon_under_test d(asking(model));
  for (const auto& words : std::vector<std::vector<std::string>>{{"ask", "what", "time", "is", "it", "-m", "m"},
                                                                 {"ask", "-m", "m", "what", "tools", "help", "me"},
                                                                 {"ask", "5", "-", "3"},
                                                                 {"ask", "two  blanks"},
                                                                 {"ask", "[a,b]"},
                                                                 {"ask", "--system", "[c,d]", "sort", "[b,,a]"},
                                                                 {"ask", "{}"},
                                                                 {"ask", "--", "--model", "is", "what"}}) {
    const auto r = run_cli(d, words);
    CHECK_MESSAGE(r.status == 0, r.err);
  }
  for (const std::string question : {"what time is it", "what tools help me", "5 - 3", "two  blanks", "[a,b]",
                                     "sort [b,,a]", "[c,d]", "{}", "--model is what"})
    CHECK_MESSAGE(contains(model.log(), "\"content\":" + json_string(question)), question);
}

TEST_CASE("ask: - behind the words waits for the input, however late it comes") {
  model_process model;
  daemon_under_test d(asking(model));
  const auto asked = start_cli(d, {"ask", "Why", "this?", "-"});
  CHECK_FALSE(eventually([&] { return asked->ended().has_value(); }, 4));
  asked->write("late data");
  asked->close_stdin();
  CHECK(asked->wait().status == 0);
  CHECK(asked->err.find("standard input") == std::string::npos);
  CHECK(contains(model.log(), "Why this?"));
  CHECK(contains(model.log(), R"(Standard input:\n\nlate data)"));
}

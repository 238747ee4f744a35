// The configured models through the CLI, and a fallback in a run.
#include "test/e2e/harness/harness.hpp"

#include <doctest/doctest.h>

using namespace mcpbx::e2e;

TEST_CASE("models: the configured ones with API, id and address, and what an endpoint offers") {
  model_process model;
  daemon_under_test d(config()
                          .model("m", model.entry(R"("fallbackModel":"demo")"))
                          .model("gone", R"({"api":"openai-chat","model":"x","baseUrl":"http://127.0.0.1:1/v1"})")
                          .top("defaultModel", "\"m\""));
  const auto table = run_cli(d, {"models"});
  CHECK_MESSAGE(table.status == 0, table.err);
  CHECK(contains(table.out, "NAME"));
  CHECK(contains(table.out, model.url()));
  CHECK(contains(table.out, "default; fallback: demo"));
  CHECK(contains(table.out, "rehearsal"));

  const auto offered = run_cli(d, {"models", "m", "--remote"});
  CHECK_MESSAGE(offered.status == 0, offered.err);
  CHECK(contains(offered.out, "m offers:\n  text\n"));
  CHECK_FALSE(contains(offered.out, "gone"));

  const auto all = run_cli(d, {"--json", "models", "--remote"});
  CHECK(all.status == 4);  // one endpoint is not there
  const auto rows = parse(all.out).as_array();
  REQUIRE(rows.size() == 3);
  CHECK(rows[0].at("offered").at(0).at("id") == "text");
  CHECK(contains(rows[1].at("offeredProblem").as_string(), "127.0.0.1:1"));
  CHECK(rows[2].at("name") == "demo");

  const auto unknown = run_cli(d, {"models", "gonne"});
  CHECK(unknown.status == 5);
  CHECK(contains(unknown.err, "did you mean \"gone\"?"));
}

TEST_CASE("models: what one needs at once may come from a file or a program, and one without it is unavailable alone") {
  model_process model;
  const config cfg =
      config()
          .model("m", R"({"api":"openai-chat","model":"${cmd:echo text from a file}","baseUrl":")" + model.url() +
                          R"(","system":"${file:@DIR@/prompt}"})")
          .model("none", model.entry(R"("system":"${file:@DIR@/missing}")"))
          .top("profiles",
               R"({"p":{"model":"m","system":"${cmd:sh -c 'echo As the profile says; echo x >> @DIR@/runs'}"}})");
  daemon_under_test d(cfg, {.files = {{"prompt", "Answer in Dutch.\nBe brief.\n"}}});
  CHECK(read_file(d.file("runs")) == "x\n");
  d.write("prompt", "Changed since.");

  const auto r = run_cli(d, {"ask", "-m", "m", "question"});
  CHECK_MESSAGE(r.status == 0, r.err);
  CHECK(r.out == "from a file\n");
  CHECK(contains(model.log(), R"(Answer in Dutch.\nBe brief.)"));
  CHECK_FALSE(contains(model.log(), "Changed since."));
  const auto profile = run_cli(d, {"ask", "-p", "p", "question"});
  CHECK_MESSAGE(profile.status == 0, profile.err);
  CHECK(contains(model.log(), "As the profile says"));

  const auto none = run_cli(d, {"ask", "-m", "none", "question"});
  CHECK(none.status == 2);
  CHECK_MESSAGE(contains(none.err, "in \"models.none.system\": ${file:" + d.file("missing") + "}: cannot read "),
                none.err);
  CHECK(contains(run_cli(d, {"models"}).out, "models.none.system"));
  CHECK(read_file(d.file("runs")) == "x\n");
  // Nobody waits for a check: it runs and reads nothing.
  CHECK(run_daemon(d, {"--check-config", "--config", d.file("config.json")}).status == 0);
  CHECK(read_file(d.file("runs")) == "x\n");
}

TEST_CASE("L13: a run goes on with the fallback of a model that gives no answer") {
  model_process model;
  daemon_under_test d(
      config()
          .model("m",
                 R"({"api":"openai-chat","model":"status-500","maxRetries":0,"fallbackModel":"other","baseUrl":")" +
                     model.url() + "\"}")
          .model("other", R"({"api":"openai-chat","model":"text from the other one","baseUrl":")" + model.url() + "\"}")
          .top("defaultModel", "\"m\""));
  const auto r = run_cli(d, {"ask", "question"});
  CHECK_MESSAGE(r.status == 0, r.err);
  CHECK(r.out == "from the other one\n");
  CHECK(d.logs("model \"m\" gave no answer, asking \"other\""));
  // The answer names the model that answered beside the requested one.
  caller c = d.connect();
  const auto told = c.request("mcpbx/chat", R"({"input":"question"})");
  CHECK_MESSAGE(contains(told.line, R"("role":"assistant","model":"text from the other one")"), told.line);
  bool asked = false, answered = false;
  for (const auto& n : c.notifications) {
    asked = asked || (text_at(n, "params.type") == "round" && text_at(n, "params.model") == "m");
    answered =
        answered || (text_at(n, "params.type") == "usage" && text_at(n, "params.model") == "text from the other one");
  }
  CHECK(asked);
  CHECK(answered);
}

// Record and replay: a run is recorded once, then asked again with its model gone.
#include "test/e2e/harness/harness.hpp"

#include <doctest/doctest.h>

#include <sys/stat.h>

using namespace mcpbx::e2e;

namespace {

constexpr std::string_view playing = R"({"api":"replay","script":"@DIR@/talk.jsonl"})";
constexpr std::string_view recording = R"({"api":"replay","script":"@DIR@/talk.jsonl","record":"m"})";

/// Returns a result without names of runs and times.
std::string essence(const reply& r) {
  auto result = r.value.at("result").as_object();
  result.erase("run");
  result.erase("session");
  for (auto& call : result.at("toolCalls").as_array()) call.as_object().erase("durationMs");
  return json::serialize(result);
}

}  // namespace

TEST_CASE("replay: a recorded run of the scripted model plays with the model gone, in pieces and with its tools") {
  std::string live, shown;
  daemon_under_test::options o;
  {
    model_process model;
    daemon_under_test d(config().server("s").model("m", model.entry()).model("talk", recording), o);
    d.wait_ready({"s"});
    caller c = d.connect();
    const auto params = R"({"input":"question","model":"talk/rounds-3 s__echo {\"text\":\"from the tool\"}"})";
    const auto r = c.request("mcpbx/chat", params);
    live = essence(r);
    CHECK(contains(live, "Final: from the tool"));
    CHECK(model.count("request") == 4);
    const auto file = read_file(d.file("talk.jsonl"));
    CHECK(count_of(file, "\n") == 5);
    CHECK(contains(file, R"({"type":"recording","v":1,"api":"openai-chat",)"));
    struct stat info{};
    REQUIRE(::stat(d.file("talk.jsonl").c_str(), &info) == 0);
    CHECK((info.st_mode & 0777) == 0600);
    o.files = {{"talk.jsonl", file}};
  }
  daemon_under_test d(config().server("s", {"--log", "@DIR@/log"}).model("talk", playing), o);
  d.wait_ready({"s"});
  caller c = d.connect();
  CHECK(essence(c.request("mcpbx/chat", R"({"input":"question","model":"talk"})")) == live);
  CHECK(essence(c.request("mcpbx/chat", R"({"input":"question","model":"talk"})")) == live);
  CHECK(count_of(read_file(d.file("log")), "call echo") == 6);
  const auto cli = run_cli(d, {"ask", "-m", "talk", "question"});
  CHECK_MESSAGE(cli.status == 0, cli.err);
  CHECK(cli.out == "Final: from the tool\n");

  const auto other = run_cli(d, {"ask", "-m", "talk", "another question"});
  CHECK(other.status == 4);
  CHECK_MESSAGE(contains(other.err, R"(recorded there is "question", and "another question" came)"), other.err);
  CHECK_MESSAGE(contains(other.err, "talk.jsonl, and this conversation is not in it: message "), other.err);
}

TEST_CASE("replay: an answer of the rehearsal that needs tools is recorded and played") {
  std::string live;
  daemon_under_test::options o;
  const auto with_files = [] { return config().entry("toolbox", R"({"command":"mcpbx-toolbox","args":["@DIR@"]})"); };
  {
    daemon_under_test d(with_files().model("m", R"({"api":"rehearsal"})").model("talk", recording), o);
    const auto r = run_cli(d, {"ask", "-m", "talk", "What is 17*23?"});
    CHECK_MESSAGE(r.status == 0, r.err);
    live = r.out;
    CHECK(contains(live, "391"));
    o.files = {{"talk.jsonl", read_file(d.file("talk.jsonl"))}};
  }
  // The guidance names tools, and the folder of the toolbox is no part of it.
  daemon_under_test d(with_files().model("talk", playing), o);
  const auto r = run_cli(d, {"ask", "-m", "talk", "What is 17*23?"});
  CHECK_MESSAGE(r.status == 0, r.err);
  CHECK(r.out == live);
  CHECK(contains(r.err, "-> toolbox__"));
}

TEST_CASE("G35: no secret that a model or a tool repeats is in a recording") {
  model_process model;
  daemon_under_test::options o;
  o.env = {"CANARY_SECRET=canary-environment-1234", "MODEL_API_KEY=canary-model-key-1234"};
  daemon_under_test d(config()
                          .server("s", {}, R"("env":{"A_TOKEN":"${env:CANARY_SECRET}"})")
                          .model("m", model.entry(R"("apiKey":"${env:MODEL_API_KEY}")"))
                          .model("talk", recording),
                      o);
  d.wait_ready({"s"});
  const auto r = run_cli(d, {"ask", "-m", "talk/rounds-1 s__env", "is it canary-model-key-1234?"});
  CHECK_MESSAGE(r.status == 0, r.err);
  CHECK(contains(r.out, "canary-environment-1234"));
  const auto file = read_file(d.file("talk.jsonl"));
  CHECK(count_of(file, "\n") == 3);
  CHECK_FALSE(contains(file, "canary"));
  CHECK(contains(file, "is it ***?"));
}

TEST_CASE("replay: a recording that is not there, of a newer version or no recording is told with the mend, status 2") {
  daemon_under_test d(config().server("s").model("talk", playing));
  const auto ask = [&] { return run_cli(d, {"ask", "-m", "talk", "question"}); };
  auto r = ask();
  CHECK(r.status == 2);
  CHECK_MESSAGE(contains(r.err, R"(record it first, with "record" in the entry of the model)"), r.err);
  d.write("talk.jsonl", "{\"type\":\"recording\",\"v\":9,\"api\":\"x\"}\n");
  r = ask();
  CHECK(r.status == 2);
  CHECK_MESSAGE(contains(r.err, "talk.jsonl was recorded by a newer mcpbx (version 9"), r.err);
  d.write("talk.jsonl", "notes\n");
  r = ask();
  CHECK(r.status == 2);
  CHECK_MESSAGE(contains(r.err, "talk.jsonl is no recording of mcpbx"), r.err);
}

// Canaries: secrets of the configuration and of the environment are looked for in everything that mcpbx says, at trace
// level, while servers and models repeat them on purpose (G35).
#include "test/e2e/harness/harness.hpp"

#include <doctest/doctest.h>

#include <sys/resource.h>

using namespace mcpbx::e2e;

namespace {

/// No canary is in there.
void check_clean(std::string_view where, const std::string& text) {
  const auto found = text.find("canary-");
  const std::string around =
      found == std::string::npos ? std::string() : text.substr(found > 200 ? found - 200 : 0, 400);
  CHECK_MESSAGE(found == std::string::npos, std::string(where), ": …", around, "…");
}

}  // namespace

TEST_CASE("G35: secrets appear in no log, status, error, event or command line at trace level") {
  model_process model;
  daemon_under_test::options o;
  o.arguments = {"--log-level", "trace"};
  o.env = {"CANARY_SECRET=canary-environment-1234", "MODEL_API_KEY=canary-model-key-1234",
           "UNUSED_TOKEN=canary-unused-1234", "GITHUB_PAT=canary-passed-1234"};
  o.files = {
      {"key", "canary-file-1234\n"}, {"key2", "canary-command-1234\n"}, {"env", "FILE_TOKEN=canary-envfile-1234\n"}};
  // Each source of a secret, and a server that repeats it when it is opened, and on stderr.
  config cfg;
  cfg.server("by-env", {"--behave", "init-error=A_TOKEN"}, R"("env":{"A_TOKEN":"${env:CANARY_SECRET}"})")
      .server("by-pass", {"--behave", "init-error=GITHUB_PAT"}, R"("passEnv":["GITHUB_PAT"])")
      .server("by-file", {"--behave", "init-error=B_KEY"}, R"("env":{"B_KEY":"${file:@DIR@/key}"})")
      .server("by-command", {"--behave", "init-error=C_KEY"}, R"("env":{"C_KEY":"${cmd:cat @DIR@/key2}"})")
      .server("by-envfile", {"--behave", "init-error=FILE_TOKEN"}, R"("envFile":"@DIR@/env")")
      .server("literal", {"--behave", "init-error=D_PASSWORD"}, R"("env":{"D_PASSWORD":"canary-literal-1234"})")
      .server("good", {}, R"("env":{"A_TOKEN":"${env:CANARY_SECRET}"})")
      .model("m", model.entry(R"("apiKey":"${env:MODEL_API_KEY}","headers":{"X-Auth-Token":"canary-header-1234"})"));
  daemon_under_test d(cfg, o);
  caller c = d.session();
  const std::vector<std::string> broken{"by-env", "by-pass", "by-file", "by-command", "by-envfile", "literal"};
  for (const auto& name : broken) {
    CAPTURE(name);
    CHECK(eventually([&] { return c.state(name) == "failed" && !text_at(c.server(name), "stderr").empty(); }));
  }
  REQUIRE(eventually([&] { return c.state("good") == "ready"; }));
  // Arguments and answers are for the caller and the server, not for the log.
  CHECK(contains(c.call("good__raw", R"({"secret":"canary-argument-1234"})").line, "canary-argument"));
  CHECK(contains(c.call("good__env").line, "canary-environment"));
  CHECK(c.call("good__exit-in-call", R"({"secret":"canary-argument-1234"})").failed());
  c.send(R"({"jsonrpc":"2.0","id":1,"method":"no/such","params":{"secret":"canary-argument-1234"}})");
  check_clean("the error for an unknown method", c.line());
  c.send(R"({"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"secret":"canary-argument-1234"}})");
  check_clean("the error for wrong params", c.line());
  c.send(R"({"jsonrpc":"2.0","id":1,"method":"ping","params":{"secret":"canary-argument-1234",]})");
  check_clean("the error for broken JSON", c.line());
  // The endpoint repeats the key in its refusal.
  const auto ask = run_cli(d, {"ask", "-m", "m/status-401-echo-key", "question"});
  CHECK(ask.status == 4);
  check_clean("ask", ask.out + ask.err);
  const auto ask_json = run_cli(d, {"--json", "ask", "-m", "m/status-401-echo-key", "question"});
  check_clean("ask --json", ask_json.out + ask_json.err);

  for (const auto& verb : std::vector<std::vector<std::string>>{
           {"servers"}, {"--json", "servers"}, {"status"}, {"--json", "status"}, {"tools"}, {"--json", "tools"}}) {
    const auto r = run_cli(d, verb);
    check_clean(verb.back(), r.out + r.err);
  }
  for (const pid_t pid : {d.pid(), d.keeper()})
    check_clean("the command line", read_file("/proc/" + std::to_string(pid) + "/cmdline"));
  CHECK(d.stop().status == 0);
  // The log says something at that level, or this test proves nothing.
  CHECK(d.log().size() > 2'000);
  check_clean("the log", d.log());
  CHECK(d.logs("***"));
}

TEST_CASE("G35 G34: a broken configuration is told without the secrets in it") {
  world w;
  w.env.push_back("SOME_KEY=canary-environment-1234");
  w.write("config.json",
          R"({"mcpServers":{"a":{"command":"x","env":{"A_TOKEN":"canary-literal-1234","B":"${env:SOME_KEY}"},"args":5}},
"models":{"m":{"api":"openai-chat","model":"x","apiKey":"canary-key-1234","temperature":"canary-wrong-1234"}}})");
  const auto r = run_daemon(w, {"--config", w.file("config.json"), "--socket", w.socket()});
  CHECK(r.status == 78);
  for (const std::string_view word : {"canary-literal", "canary-environment", "canary-key"})
    CHECK_FALSE(contains(r.err, word));
}

TEST_CASE("G35 G36: a server never sees the secrets of another, nor the daemon's") {
  daemon_under_test::options o;
  o.env = {"CANARY_SECRET=canary-environment-1234", "OPENAI_API_KEY=canary-model-1234"};
  daemon_under_test d(config()
                          .server("a", {}, R"("env":{"A_TOKEN":"canary-of-a-1234"})")
                          .server("b", {}, R"("passEnv":["CANARY_SECRET"])"),
                      o);
  caller c = d.session();
  const auto a = c.call("a__env").line, b = c.call("b__env").line;
  CHECK(contains(a, "canary-of-a"));
  CHECK_FALSE(contains(a, "canary-environment"));
  CHECK_FALSE(contains(a, "canary-model"));
  CHECK(contains(b, "canary-environment"));
  CHECK_FALSE(contains(b, "canary-of-a"));
  CHECK_FALSE(contains(b, "canary-model"));
}

TEST_CASE("G35: the daemon and its keeper leave no core file with secrets") {
  // Allow core files, however the test was started: these two processes must still leave none.
  rlimit before{};
  REQUIRE(::getrlimit(RLIMIT_CORE, &before) == 0);
  const rlimit wanted{before.rlim_max, before.rlim_max};
  REQUIRE(::setrlimit(RLIMIT_CORE, &wanted) == 0);
  daemon_under_test d(config().server("s"));
  CHECK(::setrlimit(RLIMIT_CORE, &before) == 0);
  d.wait_ready({"s"});  // a keeper that was forked and has not run yet has no secrets either
  for (const pid_t pid : {d.pid(), d.keeper()}) {
    CAPTURE(pid);
    rlimit limit{};
    REQUIRE(::prlimit(pid, RLIMIT_CORE, nullptr, &limit) == 0);
    CHECK(limit.rlim_cur <= 1);
  }
}

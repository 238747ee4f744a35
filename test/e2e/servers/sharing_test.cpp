// Servers with a process for each caller or run, from the configuration to the processes.
#include "test/e2e/harness/harness.hpp"

#include <doctest/doctest.h>

#include <string>

using namespace mcpbx::e2e;

namespace {

caller introduced(const daemon_under_test& d, const std::string& name, const std::string& cwd = {}) {
  caller c = d.session();
  const auto told = c.request(
      "mcpbx/hello", "{\"name\":" + json_string(name) + (cwd.empty() ? "" : ",\"cwd\":" + json_string(cwd)) + "}");
  REQUIRE_FALSE(told.failed());
  return c;
}

std::string fact(caller& c, std::string_view name) {
  const auto r = c.call("own__process");
  CHECK_FALSE(r.failed());
  return text_at(r.value, "result.structuredContent." + std::string(name));
}

}  // namespace

TEST_CASE("sharing: perCaller gives each caller a process that ends with it, in the caller's directory") {
  daemon_under_test d(config().server("own", {}, R"("sharing": "perCaller", "cwd": "caller", "maxInstances": 2)"));
  d.wait_ready({"own"});
  caller a = introduced(d, "first", d.dir());
  caller b = introduced(d, "second", "/");
  const auto pid = fact(a, "pid");
  CHECK(fact(a, "cwd") == d.dir());
  CHECK(fact(b, "cwd") == "/");
  CHECK(fact(b, "pid") != pid);
  CHECK(fact(a, "pid") == pid);
  CHECK(d.tagged().size() == 3);

  caller c = introduced(d, "third", "/");
  const auto full = c.call("own__process");
  CHECK(full.failed());
  CHECK(full.message().find("has 2 processes already, one for each caller") != std::string::npos);
  CHECK(text_at(full.value, "error.data.retryable") == "true");

  const auto shown = run_cli(d, {"servers", "own"});
  CHECK(shown.status == 0);
  CHECK(shown.out.find("2 ready") != std::string::npos);
  CHECK(shown.out.find("caller first (pid ") != std::string::npos);

  a.close();
  CHECK(eventually([&] { return !d.tagged().contains(std::stoi(pid)); }));
  // The place is free once the daemon knows of the end, too.
  CHECK(eventually([&] { return !c.call("own__process").failed(); }));
  CHECK(fact(c, "cwd") == "/");
  caller without = introduced(d, "fourth");
  c.close();
  b.close();
  CHECK(eventually([&] { return d.tagged().size() == 1; }));
  CHECK(without.call("own__process").message().find("this caller has not told it") != std::string::npos);
}

TEST_CASE("sharing: the command line tells its directory to servers that run there") {
  daemon_under_test d(config().server("own", {}, R"("sharing": "perRun", "cwd": "caller")"));
  d.wait_ready({"own"});
  d.cwd = "/usr";
  const auto got = run_cli(d, {"--json", "call", "own__process"});
  CHECK(got.status == 0);
  CHECK(got.out.find("\"cwd\":\"/usr\"") != std::string::npos);
}

TEST_CASE("sharing: perRun gives each run of the loop a process of its own") {
  model_process model;
  daemon_under_test d(
      config().server("own", {"--log", "@DIR@/own.log"}, R"("sharing": "perRun")").model("m", model.entry()));
  d.wait_ready({"own"});
  caller c = d.session();
  for (int i = 0; i < 2; ++i) {
    const auto run = c.request("mcpbx/chat", R"({"input":"q","model":"m/rounds-1 own__process {}"})");
    CHECK_FALSE(run.failed());
    CHECK(text_at(run.value, "result.toolCalls.0.isError") == "false");
    CHECK(eventually([&] { return d.tagged().size() == 1; }));
  }
  const auto log = read_file(d.file("own.log"));
  std::size_t starts = 0;
  for (auto at = log.find("start "); at != std::string::npos; at = log.find("start ", at + 1)) ++starts;
  CHECK(starts == 3);
}

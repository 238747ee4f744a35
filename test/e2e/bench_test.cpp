// `mcpbx why` and `mcpbx bench`, and `mcpbx doctor NAME` without a daemon, against the real programs.
#include "test/e2e/harness/harness.hpp"

#include <doctest/doctest.h>

#include <string>

using namespace mcpbx::e2e;

TEST_CASE("D4: why names the rule that hides a tool, and near names of one that nobody has") {
  daemon_under_test d(config()
                          .server("a", {"--only", "echo,add"}, R"("tools": {"deny": ["ad*"]})")
                          .top("profiles", R"({"p": {"tools": {"deny": ["a__e*"]}}})"));
  d.wait_ready({"a"});
  const auto offered = run_cli(d, {"why", "a__echo"});
  CHECK(offered.status == 0);
  CHECK(contains(offered.out, "a__echo is offered"));
  const auto denied = run_cli(d, {"why", "a__add"});
  CHECK(denied.status == 1);
  CHECK(contains(denied.out, "tools.deny of the entry \"a\" has \"ad*\""));
  CHECK(text_at(parse(run_cli(d, {"--json", "why", "echo", "-p", "p"}).out), "outcome") == "hidden");
  const auto unknown = run_cli(d, {"why", "a__ecko"});
  CHECK(unknown.status == 5);
  CHECK(contains(unknown.err, "near names: a__echo"));
  CHECK(run_cli(d, {"why", "a__echo", "-p", "none"}).status == 2);
}

TEST_CASE("D4: bench measures a server alone and through the daemon, and leaves no process behind") {
  daemon_under_test d(config().server("a", {"--only", "echo"}));
  d.wait_ready({"a"});
  d.env.push_back("MCPBX_CONFIG=" + d.file("config.json"));
  const auto before = d.tagged();
  const auto r = run_cli(d, {"--json", "bench", "a__echo", "--calls", "20", "--args", R"({"text":"x"})", "--yes"});
  CHECK_MESSAGE(r.status == 0, r.err);
  const auto told = parse(r.out);
  CHECK(text_at(told, "tool") == "a__echo");
  CHECK(at(told, "alone.calls") == json::value(20));
  CHECK(at(told, "mcpbx.calls") == json::value(20));
  CHECK(at(told, "alone.p95Us").is_number());
  CHECK(d.tagged() == before);
  // The words become arguments as `mcpbx call` makes them, or the server would refuse the call.
  const auto words = run_cli(d, {"--json", "bench", "a__echo", "text=7", "--calls", "1", "--yes"});
  CHECK_MESSAGE(words.status == 0, words.err);
  const auto both = run_cli(d, {"bench", "a__echo", "text=7", "--args", "{}"});
  CHECK(both.status == 2);
  CHECK(contains(both.err, "as key=value or with --args, not both; see `mcpbx bench --help`"));
  CHECK(run_cli(d, {"bench", "none__x"}).status == 5);
  CHECK(run_cli(d, {"bench", "a__echo", "--args", "[]"}).status == 2);
  CHECK(run_cli(d, {"bench", "a__echo", "--calls", "0"}).status == 2);
}

TEST_CASE("D4: doctor with a name starts that server without a daemon, tells what it said, and ends it") {
  world w;
  w.env.push_back("MCPBX_CONFIG=" + w.write("config.json", R"({"mcpServers": {
      "good": {"command": "@SERVER@", "args": ["--tag", "@TAG@"]},
      "bad": {"command": "/bin/sh", "args": ["-c", "echo no licence >&2; exit 3"]},
      "mute": {"command": "/bin/sh", "args": ["-c", "sleep 1000 # @TAG@"], "startTimeoutMs": 200}}})"));
  const auto good = run_cli(w, {"doctor", "good"});
  CHECK_MESSAGE(good.status == 0, good.out);
  CHECK(contains(good.out, "started for this check, it was ready after"));
  const auto bad = run_cli(w, {"--json", "doctor", "bad"});
  CHECK(bad.status == 1);
  CHECK(contains(bad.out, "server-exits"));
  CHECK(contains(bad.out, "exited with status 3 before it was ready"));
  CHECK(contains(bad.out, "no licence"));
  const auto mute = run_cli(w, {"--json", "doctor", "mute"});
  CHECK(mute.status == 1);
  CHECK(contains(mute.out, "server-silent"));
  CHECK(w.tagged().empty());
}

// Tool servers that die: what the caller hears, what is started again, what is never repeated (G1 to G3, G8).
#include "test/e2e/harness/harness.hpp"

#include <doctest/doctest.h>

#include <signal.h>

using namespace mcpbx::e2e;

namespace {

std::size_t starts(const daemon_under_test& d, const std::string& file) {
  return count_of(read_file(d.file(file)), "\n");
}

}  // namespace

TEST_CASE("G1: a server that dies in a call ends it with an error that names server, cause and exit status") {
  daemon_under_test d(config().server("fragile").server("good"));
  caller c = d.session();
  struct death {
    std::string_view tool, arguments, cause;
  };
  const death deaths[] = {{"fragile__crash-in-call", "{}", "SIGSEGV"},
                          {"fragile__abort-in-call", "{}", "SIGABRT"},
                          {"fragile__exit-in-call", R"({"n":17})", "17"},
                          {"fragile__partial-line-exit", "{}", "3"}};
  for (const auto& death : deaths) {
    CAPTURE(death.tool);
    // By hand, so that the five exits do not become a crash loop.
    c.request("mcpbx/restart", R"({"server":"fragile"})");
    REQUIRE(eventually([&] { return c.state("fragile") == "ready"; }));
    const auto r = c.call(death.tool, death.arguments);
    CHECK(r.failed());
    CHECK(r.code() == -32000);
    CHECK_MESSAGE(contains(r.message(), "\"fragile\""), r.message());
    CHECK_MESSAGE(contains(r.message(), death.cause), r.message());
    CHECK(text_at(r.value, "error.data.server") == "fragile");
    CHECK_FALSE(contains(r.line, "WRONG"));
    CHECK(c.call("good__echo", R"({"text":"fine"})").text() == "fine");
  }
  CHECK(contains(text_at(c.server("fragile"), "exit"), "3"));
}

TEST_CASE("G1: every call that is open when the server dies is answered once") {
  daemon_under_test d(config().server("s"));
  caller a = d.session(), b = d.session();
  std::vector<std::int64_t> open;
  for (int i = 0; i < 20; ++i) open.push_back(a.start_call("s__never-answer"));
  const auto crash = b.start_call("s__crash-in-call");
  for (const auto id : open) CHECK(a.wait(id).failed());
  CHECK(b.wait(crash).failed());
}

TEST_CASE("G1: the last answer before an exit is not lost") {
  daemon_under_test d(config().server("s"));
  caller c = d.session();
  for (const std::string_view status : {"0", "9"}) {
    CHECK(c.call("s__exit-after-answer", R"({"n":)" + std::string(status) + "}").text() == "last words");
    REQUIRE(eventually([&] { return text_at(c.server("s"), "restarts") != "0" && c.state("s") == "ready"; }));
  }
}

TEST_CASE("G2: a server that died is started again and works, and callers go on") {
  daemon_under_test d(config().server("s", {"--spawn-log", "@DIR@/spawns"}));
  caller c = d.session();
  CHECK(c.call("s__crash-in-call").failed());
  // A call that comes while it starts waits for it.
  CHECK(c.call("s__echo", R"({"text":"again"})").text() == "again");
  CHECK(starts(d, "spawns") == 2);
  CHECK(text_at(c.server("s"), "restarts") == "1");
}

TEST_CASE("G2: a server that exits after its opening is a crash loop, shown as such, and a manual restart works") {
  daemon_under_test d(
      config()
          .server("s", {"--behave", "exit-after-init", "--spawn-log", "@DIR@/spawns", "--first-starts", "5"})
          .server("loop", {"--behave", "exit-after-init", "--spawn-log", "@DIR@/loop"}));
  caller c = d.session();
  CHECK(eventually([&] { return c.state("loop") == "crash_loop"; }));
  CHECK(starts(d, "loop") <= 8);
  const auto status = c.request("mcpbx/status");
  CHECK(contains(status.line, R"("name":"loop")"));
  // The fault of `s` acts in its first five lives only.
  REQUIRE(eventually([&] { return starts(d, "spawns") >= 5; }));
  CHECK_FALSE(c.request("mcpbx/restart", R"({"server":"s"})").failed());
  CHECK(eventually([&] { return c.state("s") == "ready"; }));
  CHECK(c.call("s__echo", R"({"text":"well again"})").text() == "well again");
}

TEST_CASE("G2: many servers dying together are all back, and none was started more than twice") {
  config cfg;
  std::vector<std::string> names;
  for (int i = 0; i < 20; ++i) {
    const std::string name = "s" + std::to_string(i);
    names.push_back(name);
    cfg.server(name, {"--spawn-log", "@DIR@/spawns-" + name});
  }
  daemon_under_test d(cfg);
  d.wait_ready(names);
  for (const pid_t pid : d.tagged()) ::kill(pid, SIGKILL);
  caller c = d.session();
  for (const auto& name : names) {
    CHECK(eventually([&] { return text_at(c.server(name), "restarts") == "1" && c.state(name) == "ready"; }));
    CHECK(starts(d, "spawns-" + name) == 2);
  }
}

TEST_CASE("G3: a call is executed exactly once, however often the server crashes") {
  daemon_under_test d(config().server("s", {"--counter-file", "@DIR@/count"}));
  caller c = d.session();
  for (int i = 1; i <= 20; ++i) {
    CHECK(c.call("s__counter", R"({"then":"crash"})").failed());
    CHECK(read_file(d.file("count")) == std::to_string(i) + "\n");
    c.request("mcpbx/restart", R"({"server":"s"})");
    REQUIRE(eventually([&] { return c.state("s") == "ready"; }));
  }
  CHECK(c.call("s__counter").text() == "21");
}

TEST_CASE("G1 G2: a death before, during and after every step of the conversation heals with a restart") {
  struct life {
    std::string name, era, step, when;
  };
  std::vector<life> lives;
  config cfg;
  for (const std::string era : {"legacy", "modern"})
    for (const std::string step : {"discover", "initialize", "initialized", "list", "listen"})
      for (const std::string when : {"before", "during", "after"}) {
        // A step that this era does not have, or that has no answer.
        if (step == (era == "legacy" ? "listen" : "initialize") || (era == "modern" && step == "initialized")) continue;
        if ((step == "initialized" || step == "listen") && when != "before") continue;
        lives.push_back({era + "-" + step + "-" + when, era, step, when});
        cfg.server(lives.back().name, {"--era", era, "--die", step + ":" + when, "--first-starts", "1", "--spawn-log",
                                       "@DIR@/spawns-" + lives.back().name});
      }
  daemon_under_test d(cfg);
  caller c = d.session();
  for (const auto& life : lives) {
    CAPTURE(life.name);
    CHECK(eventually([&] { return starts(d, "spawns-" + life.name) == 2 && c.state(life.name) == "ready"; }));
    CHECK(text_at(c.server(life.name), "era") == life.era);
    CHECK(contains(text_at(c.server(life.name), "exit"), "3"));
    CHECK(c.call(life.name + "__echo", R"({"text":"healed"})").text() == "healed");
  }
}

TEST_CASE("G8: a failure to start is explained with its exit status, its stderr and the next try") {
  daemon_under_test d(config()
                          .server("at-start", {"--behave", "exit-at-start=41"})
                          .server("in-init", {"--behave", "exit-in-init"})
                          .server("refuses", {"--behave", "init-error=NOBODY"})
                          .entry("missing", R"({"command":"mcpbx-no-such-program"})")
                          .entry("no-program", R"({"command":"@DIR@/config.json"})")
                          .entry("no-variable", R"({"command":"true","env":{"X":"${env:E2E_IS_NOT_SET}"}})")
                          .server("good"));
  caller c = d.session();
  for (const std::string name : {"at-start", "in-init", "refuses", "missing", "no-program", "no-variable"}) {
    CAPTURE(name);
    CHECK(eventually([&] {
      const auto s = c.server(name);
      return !text_at(s, "lastError").empty() && text_at(s, "state") != "ready" && at(s, "nextTryMs").is_int64();
    }));
  }
  const auto at_start = c.server("at-start");
  CHECK(contains(text_at(at_start, "exit"), "41"));
  CHECK(contains(text_at(at_start, "lastError"), "41"));
  CHECK_FALSE(text_at(at_start, "stderr").empty());
  CHECK(contains(text_at(c.server("in-init"), "stderr"), "ends before initialize"));
  CHECK(contains(text_at(c.server("missing"), "lastError"), "mcpbx-no-such-program"));
  CHECK(contains(text_at(c.server("no-program"), "lastError"), "config.json"));
  CHECK(contains(text_at(c.server("no-variable"), "lastError"), "E2E_IS_NOT_SET"));
  CHECK(eventually([&] { return c.state("good") == "ready"; }));
  // A call of a server that is down says so instead of waiting.
  const auto r = c.call("good__echo", R"({"text":"x"})");
  CHECK(r.text() == "x");
}

TEST_CASE("G8: stderr in the status is the end of what was said, at most 4 KiB") {
  daemon_under_test d(config().server("s", {"--behave", "flood-stderr=100000", "--die", "list:before"}));
  caller c = d.connect();
  CHECK(eventually([&] { return contains(text_at(c.server("s"), "stderr"), "ends before list"); }));
  CHECK(text_at(c.server("s"), "stderr").size() <= 4096);
}

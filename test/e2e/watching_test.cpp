// The verbs that watch a daemon: top, stats, logs, searches and exports.
#include "test/e2e/harness/harness.hpp"
#include "test/e2e/harness/pseudo_terminal.hpp"

#include <doctest/doctest.h>

#include <sys/resource.h>
#include <sys/stat.h>

#include <algorithm>
#include <csignal>
#include <fstream>

using namespace mcpbx::e2e;

namespace {

constexpr std::string_view other_screen = "\x1b[?1049h", own_screen_again = "\x1b[?7h\x1b[?25h\x1b[?1049l";

/// Returns the processor time of all children so far that have ended, in milliseconds.
double children_ms() {
  rusage used{};
  REQUIRE(::getrusage(RUSAGE_CHILDREN, &used) == 0);
  const auto ms = [](const timeval& t) {
    return static_cast<double>(t.tv_sec) * 1000 + static_cast<double>(t.tv_usec) / 1000;
  };
  return ms(used.ru_utime) + ms(used.ru_stime);
}

}  // namespace

TEST_CASE("D4: top shows calls and memory of each server once, as a table and as JSON") {
  daemon_under_test d(config().server("good").server("idle"));
  d.wait_ready({"good", "idle"});
  REQUIRE(run_cli(d, {"call", "good__echo", "text=hello"}).status == 0);
  const auto live = parse(run_cli(d, {"top", "--once", "--json"}).out);
  const auto& servers = live.at("servers").as_array();
  REQUIRE(servers.size() == 2);
  CHECK(servers[0].at("calls").as_int64() == 1);
  CHECK(servers[0].at("failedCalls").as_int64() == 0);
  CHECK(servers[0].as_object().contains("p95Ms"));
  CHECK(servers[0].at("rssBytes").as_int64() > 0);
  CHECK_FALSE(servers[1].as_object().contains("p95Ms"));
  const auto table = run_cli(d, {"top"});
  CHECK(table.status == 0);
  CHECK(contains(table.out, "SERVER  STATE"));
  CHECK(table.err.empty());
  CHECK(run_cli(d, {"top", "--interval", "0"}).status == 2);
}

TEST_CASE("D4: top draws a screen of the terminal's size, and q gives the terminal back") {
  daemon_under_test d(config().server("good"));
  d.wait_ready({"good"});
  pseudo_terminal screen(d, {"top", "--interval", "3600"});
  screen.read_until("q ends");
  CHECK(contains(screen.shown, other_screen));
  CHECK_FALSE(screen.is_plain());
  screen.shown.clear();
  screen.resize(20, 8);
  screen.read_until("q ends");
  screen.type("q");
  CHECK(screen.wait() == 0);
  CHECK(contains(screen.shown, own_screen_again));
}

TEST_CASE("D4: top gives the terminal back when it is killed, interrupted or loses its daemon") {
  for (const int how : {SIGTERM, SIGINT, SIGHUP, SIGQUIT, 0}) {
    CAPTURE(how);
    daemon_under_test d(config().server("good"));
    d.wait_ready({"good"});
    pseudo_terminal screen(d, {"top", "--interval", how == 0 ? "0.1" : "3600"});
    screen.read_until("q ends");
    if (how != 0)
      REQUIRE(::kill(screen.pid(), how) == 0);
    else
      d.stop();
    const bool plain_after = [&] {
      screen.read_until(own_screen_again);
      return eventually([&] { return screen.is_plain(); });
    }();
    CHECK(plain_after);
    CHECK(screen.wait() == (how == 0 ? 3 : 130));
  }
}

TEST_CASE("D4: stats counts the runs of the journal by model, server, tool and day") {
  model_process model(
      R"({"models":{"m":[{"calls":[{"name":"s__add","arguments":{"a":1,"b":2}}]},{"text":"it is 3"}]}})");
  daemon_under_test d(config().server("s").model("m", model.entry()).top("defaultModel", "\"m/m\""));
  d.wait_ready({"s"});
  REQUIRE(run_cli(d, {"ask", "what is 1 + 2"}).status == 0);
  const auto by_model = parse(run_cli(d, {"stats", "--json"}).out);
  CHECK(by_model.at("complete").as_bool());
  CHECK(by_model.at("total").at("runs").as_int64() == 1);
  CHECK(by_model.at("total").at("modelCalls").as_int64() == 2);
  CHECK(text_at(by_model, "rows.0.model") == "m/m");
  const auto by_tool = parse(run_cli(d, {"stats", "--by", "tool", "--json"}).out);
  CHECK(text_at(by_tool, "rows.0.tool") == "s__add");
  CHECK(text_at(by_tool, "rows.0.server") == "s");
  CHECK(parse(run_cli(d, {"stats", "--by", "server", "--json"}).out).at("rows").as_array().size() == 1);
  CHECK(contains(run_cli(d, {"stats", "--by", "day"}).out, "total"));
}

TEST_CASE("D4: sessions find shows where the words were said, and export writes a private file once") {
  model_process model(R"({"models":{"m":[{"text":"Take the Hotel Central in LISBON"}]}})");
  daemon_under_test d(config().server("s").model("m", model.entry()).top("defaultModel", "\"m/m\""));
  REQUIRE(run_cli(d, {"ask", "where to sleep?"}).status == 0);
  const auto found = parse(run_cli(d, {"sessions", "find", "lisbon", "hotel", "--json"}).out);
  REQUIRE(found.as_array().size() == 1);
  CHECK(text_at(found, "0.line") == "Take the Hotel Central in LISBON");
  const auto id = text_at(found, "0.session");
  CHECK(contains(run_cli(d, {"sessions", "find", "lisbon"}).out, id));
  CHECK(contains(run_cli(d, {"sessions", "find", "berlin"}).err, "no session has all of these words"));
  const auto written = run_cli(d, {"export", id, "-o", "talk.md"});
  CHECK(written.status == 0);
  CHECK(written.out.empty());
  const auto text = read_file(d.file("talk.md"));
  CHECK(contains(text, "Hotel Central"));
  struct stat s{};
  REQUIRE(::stat(d.file("talk.md").c_str(), &s) == 0);
  CHECK((s.st_mode & 0777) == 0600);
  const auto refused = run_cli(d, {"export", "--all", "-o", "talk.md"});
  CHECK(refused.status == 2);
  CHECK(contains(refused.err, "--force"));
  CHECK(read_file(d.file("talk.md")) == text);
  CHECK(run_cli(d, {"export", "--all", "-o", "talk.md", "--force", "--format", "jsonl"}).status == 0);
  CHECK(read_file(d.file("talk.md")).starts_with(R"({"type":"session")"));
  CHECK(parse(run_cli(d, {"export", "--all"}).out).as_array().size() == 1);
  CHECK(run_cli(d, {"export", "ses_none", "-o", "none.json"}).status == 5);
  CHECK(read_file(d.file("none.json")).empty());
}

TEST_CASE("E2: an export has no secret of the configuration, in no format") {
  model_process model(R"({"models":{"m":[{"text":"your key is canary-key-1234"}]}})");
  daemon_under_test d(config()
                          .server("s", {}, R"("env": {"KEY": "${env:CANARY}"})")
                          .model("m", model.entry())
                          .top("defaultModel", "\"m/m\""),
                      {.env = {"CANARY=canary-key-1234"}});
  d.wait_ready({"s"});
  REQUIRE(run_cli(d, {"ask", "is canary-key-1234 my key?"}).status == 0);
  for (const char* format : {"json", "jsonl", "markdown"}) {
    CAPTURE(format);
    const auto all = run_cli(d, {"export", "--all", "--format", format});
    CHECK(all.status == 0);
    CHECK(contains(all.out, "your key is ***"));
    CHECK_FALSE(contains(all.out, "canary"));
  }
}

TEST_CASE("D4: logs shows the stderr of a server now and as it comes, escaped and without secrets") {
  // A server whose stderr is what the test appends to a file.
  daemon_under_test d(
      config()
          .entry("s",
                 R"({"command": "sh", "args": ["-c", "tail -n +1 -f '@DIR@/say' >&2 & exec '@SERVER@' --tag @TAG@"],
                          "env": {"KEY": "${env:CANARY}"}})")
          .entry("remote", R"({"url": "http://127.0.0.1:9/"})"),
      {.env = {"CANARY=canary-key-1234"}, .files = {{"say", ""}}});
  d.wait_ready({"s"});
  const auto say = [&](const std::string& text) { std::ofstream(d.file("say"), std::ios::app) << text << "\n"; };
  say("first line");
  REQUIRE(eventually([&] { return contains(run_cli(d, {"logs", "s"}).out, "first line"); }));
  say("my canary-key-1234 is out");
  REQUIRE(eventually([&] { return contains(run_cli(d, {"logs", "s"}).out, "my *** is out"); }));
  CHECK(parse(run_cli(d, {"logs", "s", "--lines", "1", "--json"}).out).as_array().size() == 1);
  auto follow = start_cli(d, {"logs", "-f", "s", "--lines", "1", "--json"});
  CHECK(contains(follow->read_line(), "*** is out"));
  say("a later line");
  CHECK(contains(follow->read_line(), "a later line"));
  follow->signal(SIGINT);
  CHECK(follow->wait().status == 130);
  const auto remote = run_cli(d, {"logs", "remote"});
  CHECK(remote.status == 2);
  CHECK(contains(remote.err, "`mcpbx servers remote`"));
  CHECK(run_cli(d, {"logs", "z"}).status == 5);
  // This daemon's log is the file that the test gave it.
  CHECK(contains(run_cli(d, {"logs"}).out, "ready"));
}

// The aim is 10 ms of an optimized build; this bound holds for any build on a busy machine, and a verb that links or
// reads far too much breaks it.
TEST_CASE("D4: verbs that watch cost little processor time") {
  daemon_under_test d(config().server("s"));
  d.wait_ready({"s"});
  using words = std::vector<std::string>;
  for (const auto& verb :
       {words{"status"}, words{"top", "--once"}, words{"stats"}, words{"sessions"}, words{"logs", "s"}}) {
    CAPTURE(verb.front());
    double least = 1e9;
    for (int i = 0; i < 3; ++i) {
      const double before = children_ms();
      REQUIRE(run_cli(d, verb).status == 0);
      least = std::min(least, children_ms() - before);
    }
    CHECK(least < 100);
  }
}

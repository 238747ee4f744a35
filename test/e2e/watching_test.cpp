// The verbs that watch a daemon: top, stats, logs, searches and exports.
#include "test/e2e/harness/harness.hpp"
#include "test/e2e/harness/pseudo_terminal.hpp"

#include <doctest/doctest.h>

#include <csignal>

using namespace mcpbx::e2e;

namespace {

constexpr std::string_view other_screen = "\x1b[?1049h", own_screen_again = "\x1b[?7h\x1b[?25h\x1b[?1049l";

}  // namespace

TEST_CASE("D3: top shows calls and memory of each server once, as a table and as JSON") {
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

TEST_CASE("D3: top draws a screen of the terminal's size, and q gives the terminal back") {
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

TEST_CASE("D3: top gives the terminal back when it is killed, interrupted or loses its daemon") {
  for (const int how : {SIGTERM, SIGINT, 0}) {
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

// A keeper that is killed: every process is reported and swept, a new keeper runs, and work goes on.
#include "test/mcp/process/keeper/kept_processes.hpp"
#include "test/support/transport_recorder.hpp"

#include <doctest/doctest.h>

#include <algorithm>
#include <memory>
#include <string>
#include <vector>

using namespace mcpbx;
using namespace mcpbx::mcp::keepers;
using namespace mcpbx::mcp::process;
using namespace mcpbx::test;
using namespace std::chrono_literals;

namespace {

std::string escaping(const std::string& word) {
  return "(setsid sleep " + word + " </dev/null >/dev/null 2>&1 &) ; sleep " + word + " & echo '" + ping + "'; read x";
}

}  // namespace

TEST_CASE("G21: a keeper that dies is replaced, and every process of it is swept and told") {
  keeper_fixture f;
  const auto word = unique_sleep();
  for (int round = 1; round <= 3; ++round) {
    std::vector<std::unique_ptr<server_recorder>> all;
    for (int i = 0; i < 5; ++i) {
      all.push_back(std::make_unique<server_recorder>());
      f.launch_shell(*all.back(), escaping(word));
    }
    f.until([&] {
      return sleeping(word).size() == 10 &&
             std::ranges::all_of(all, [](const auto& s) { return s->seen.messages.size() == 1; });
    });
    const pid_t old = f.keeper->pid();
    int told_when_lost = -1;
    ::kill(old, SIGKILL);
    f.until_turning(5ms, [&] {
      if (f.lost == round && told_when_lost < 0)
        told_when_lost =
            static_cast<int>(std::ranges::count_if(all, [](const auto& s) { return s->exit.has_value(); }));
      return f.lost == round;
    });
    CHECK(told_when_lost == 5);
    for (const auto& s : all) {
      CHECK(s->exit->text() == "signal 9 (SIGKILL)");
      CHECK(s->endings == 1);
      CHECK_FALSE(exists(s->pid));
    }
    CHECK(sleeping(word).empty());
    CHECK(f.keeper->pid() != old);
    CHECK_FALSE(exists(old));
    CHECK(zombies_below(::getpid()) == 0);
  }
  server_recorder s;
  f.launch(s, {"cat"});
  f.until([&] { return s.pid > 0; });
  s.connection->send(as_segments(ping), {});
  f.until([&] { return s.seen.messages.size() == 1; });
}

TEST_CASE("a server restarted from its own exit while there is no keeper runs under the next one") {
  keeper_fixture f;
  server_recorder first, second;
  f.launch(first, {"cat"});
  f.until([&] { return first.pid > 0; });
  first.on_end = [&] { f.launch(second, {"cat"}); };
  ::kill(f.keeper->pid(), SIGKILL);
  f.until_turning(5ms, [&] { return second.pid > 0; });
  CHECK(f.lost == 1);
  CHECK(parent_of(second.pid) == f.keeper->pid());
  second.process->signal(SIGTERM);
  f.until([&] { return second.exit.has_value(); });
}

TEST_CASE("G21: servers of a replaced keeper start with the soft limit on open files of the first one's") {
  keeper_fixture f;
  rlimit before{};
  REQUIRE(::getrlimit(RLIMIT_NOFILE, &before) == 0);
  REQUIRE(before.rlim_cur > 300);
  // Like the daemon, changes the own limit after the first fork; lowers it, since it may be at the hard limit here.
  rlimit own = before;
  own.rlim_cur = 300;
  ::setrlimit(RLIMIT_NOFILE, &own);
  ::kill(f.keeper->pid(), SIGKILL);
  f.until_turning(5ms, [&] { return f.lost == 1; });
  server_recorder s;
  f.launch_shell(s, "ulimit -Sn >&2");
  f.until([&] { return s.exit.has_value(); });
  ::setrlimit(RLIMIT_NOFILE, &before);
  CHECK(s.errors == std::to_string(before.rlim_cur) + "\n");
}

TEST_CASE("a launch that a dying keeper never did fails with a reason") {
  keeper_fixture f;
  for (int round = 0; round < 5; ++round) {
    server_recorder s;
    ::kill(f.keeper->pid(), SIGKILL);
    f.launch(s, {"cat"});
    const int before = f.lost;
    f.until_turning(5ms, [&] { return s.endings == 1 && f.lost == before + 1; });
    REQUIRE(s.failed);
    CHECK(s.failed->code == errc::unavailable);
  }
}

TEST_CASE("dropping everything while the keeper is being replaced does not stop the replacement") {
  keeper_fixture f;
  std::vector<std::unique_ptr<server_recorder>> all;
  for (int i = 0; i < 3; ++i) {
    all.push_back(std::make_unique<server_recorder>());
    f.launch(*all.back(), {"cat"});
  }
  f.until([&] { return std::ranges::all_of(all, [](const auto& s) { return s->pid > 0; }); });
  all[0]->on_end = [&] {
    all[1]->process.reset();
    all[2]->process.reset();
  };
  ::kill(f.keeper->pid(), SIGKILL);
  f.until_turning(5ms, [&] { return f.lost == 1; });
  CHECK(all[0]->endings == 1);
  CHECK(all[1]->endings + all[2]->endings <= 1);
}

TEST_CASE("orphans that are to be kept survive the keeper and are reaped when they end") {
  keeper_fixture f;
  server_recorder a;
  const auto word = unique_sleep();
  f.launch_shell(a, "(setsid sleep " + word + " </dev/null >/dev/null 2>&1 &) ; read x", true);
  f.until([&] { return sleeping(word).size() == 1; });
  ::kill(f.keeper->pid(), SIGKILL);
  f.until_turning(5ms, [&] { return f.lost == 1; });
  CHECK(a.exit->text() == "signal 9 (SIGKILL)");
  const auto kept = sleeping(word);
  REQUIRE(kept.size() == 1);
  CHECK(f.keeper->owner_of(kept[0]).type == process_owner::kind::ours);
  ::kill(kept[0], SIGKILL);
  f.until([&] { return has_ended(kept[0]); });
  CHECK(exists(kept[0]));
  f.time.advance(1s);
  CHECK_FALSE(exists(kept[0]));
}

TEST_CASE("shutting down in the middle of a replacement leaves nothing") {
  keeper_fixture f;
  server_recorder s;
  const auto word = unique_sleep();
  f.launch_shell(s, escaping(word));
  f.until([&] { return sleeping(word).size() == 2; });
  ::kill(f.keeper->pid(), SIGKILL);
  f.io.restart();
  f.io.run_one();
  f.keeper->shut_down();
  CHECK(sleeping(word).empty());
  CHECK(zombies_below(::getpid()) == 0);
}

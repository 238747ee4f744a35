// Look-ups of programs that block, and a keeper that hangs: other starts go on, and every start gets its answer.
#include "test/mcp/process/keeper/kept_processes.hpp"

#include <doctest/doctest.h>

#include <signal.h>
#include <unistd.h>

#include <chrono>
#include <memory>
#include <string>
#include <vector>

using namespace mcpbx;
using namespace mcpbx::mcp::keepers;
using namespace mcpbx::mcp::process;
using namespace mcpbx::test;
using namespace std::chrono_literals;

namespace {

/// Stands for a file system that does not answer: the look-up of "stuck" never ends.
result<std::string> find_or_hang(const process_spec& spec) {
  while (spec.argv.front() == "stuck") ::pause();
  return find_program(spec);
}

keeper_options hanging(std::chrono::milliseconds lookup_limit = 60s, std::chrono::milliseconds answer_limit = 60s) {
  return {find_or_hang, lookup_limit, answer_limit};
}

}  // namespace

TEST_CASE("G7: a look-up that blocks delays no other start, and its own can be ended") {
  keeper_fixture f(hanging());
  std::vector<server_recorder> stuck(10);
  for (auto& s : stuck) f.launch(s, {"stuck"});
  server_recorder good;
  f.launch(good, {"cat"});
  f.until([&] { return good.pid > 0; });
  for (const auto& s : stuck) CHECK(s.endings == 0);
  for (auto& s : stuck) s.process->signal(SIGTERM);
  f.until([&] {
    for (const auto& s : stuck)
      if (!s.failed) return false;
    return true;
  });
  CHECK(stuck[0].failed->code == errc::cancelled);
  CHECK_FALSE(good.exit.has_value());
  f.until([&] { return zombies_below(f.keeper->pid()) == 0 && processes_below(f.keeper->pid()).size() == 1; });
}

TEST_CASE("G8: a look-up that does not end fails its start and says where to look") {
  keeper_fixture f(hanging(50ms));
  server_recorder s;
  f.launch(s, {"stuck"});
  f.until([&] { return s.failed.has_value(); });
  CHECK(s.failed->code == errc::timed_out);
  CHECK(s.failed->message.find("looking for \"stuck\" took too long") == 0);
  CHECK(s.failed->message.find("working directory \"/\"") != std::string::npos);
  CHECK(s.endings == 1);
  CHECK(f.lost == 0);
}

TEST_CASE("G21: a look-up that blocks ends with its keeper, and the daemon keeps no zombie of it") {
  const auto before = processes_below(::getpid()).size();
  {
    keeper_fixture f(hanging());
    server_recorder s;
    f.launch(s, {"stuck"});
    // Until the process has its mark, only a reaper of strays can tell where it belongs.
    f.until([&] {
      const auto below = processes_below(f.keeper->pid());
      return below.size() == 1 && mark_of(below.front().pid).has_value();
    });
    ::kill(f.keeper->pid(), SIGKILL);
    f.until_turning(5ms, [&] { return f.lost == 1; });
    CHECK(s.failed.has_value());
    CHECK(zombies_below(::getpid()) == 0);
  }
  CHECK(processes_below(::getpid()).size() == before);
}

TEST_CASE("G5: a keeper that was stopped is woken, and nothing is restarted") {
  keeper_fixture f(hanging());
  server_recorder old, fresh;
  f.launch(old, {"cat"});
  f.until([&] { return old.pid > 0; });
  ::kill(f.keeper->pid(), SIGSTOP);
  f.launch(fresh, {"cat"});
  f.time.advance(60s);
  f.until([&] { return fresh.pid > 0; });
  CHECK(f.lost == 0);
  CHECK_FALSE(old.exit.has_value());
}

TEST_CASE("G5: a keeper that hangs is replaced, and what it was asked is answered") {
  keeper_fixture f(hanging());
  server_recorder old, next;
  f.launch(old, {"cat"});
  f.until([&] { return old.pid > 0; });
  const pid_t hung = f.keeper->pid();
  // Once woken, the keeper may handle the requests before it is stopped again. Then it has not hung, and the test tries
  // again.
  std::vector<std::unique_ptr<server_recorder>> asked;
  while (f.lost == 0) {
    auto& fresh = *asked.emplace_back(std::make_unique<server_recorder>());
    ::kill(hung, SIGSTOP);
    f.launch(fresh, {"cat"});
    f.time.advance(60s);
    ::kill(hung, SIGSTOP);  // it does not come back when it is woken
    CHECK(f.lost == 0);
    f.time.advance(2s);
    f.until_turning(5ms, [&] { return f.lost == 1 || fresh.pid > 0; });
  }
  CHECK(old.exit.has_value());
  CHECK((asked.back()->failed.has_value() || asked.back()->exit.has_value()));
  CHECK(f.keeper->pid() != hung);
  f.launch(next, {"cat"});
  f.until([&] { return next.pid > 0; });
}

// G21: no process outlives its server or the daemon, wherever it has hidden.
#include "test/mcp/process/keeper/kept_processes.hpp"

#include <doctest/doctest.h>

#include <fcntl.h>
#include <sys/prctl.h>

#include <string>
#include <vector>

using namespace mcpbx;
using namespace mcpbx::mcp::keepers;
using namespace mcpbx::mcp::process;
using namespace mcpbx::test;

namespace {

// Returns a server with descendants that left its group and session, and one that also lost its parent: five sleeps. It
// ends when its stdin is closed, and ignores signals that ask it to.
std::string hiding_server(const std::string& word) {
  const std::string sleep = "sleep " + word;
  return "trap '' TERM HUP INT; (setsid " + sleep + " </dev/null >/dev/null 2>&1 &) ; setsid sh -c '" + sleep + " & " +
         sleep + "' & " + sleep + " & (sh -c '" + sleep + " & wait' &) ; read x";
}
constexpr std::size_t hiding_processes = 5;

void kill_all_with(const std::string& word) {
  for (pid_t p : sleeping(word)) ::kill(p, SIGKILL);
}

}  // namespace

TEST_CASE("G21: what a server leaves behind ends with it and its neighbour keeps its own") {
  keeper_fixture f;
  server_recorder a, b;
  const auto of_a = unique_sleep(), of_b = unique_sleep();
  f.launch_shell(a, hiding_server(of_a));
  f.launch_shell(b, hiding_server(of_b));
  f.until([&] {
    return a.connection && b.connection && sleeping(of_a).size() == hiding_processes &&
           sleeping(of_b).size() == hiding_processes;
  });
  for (pid_t p : sleeping(of_a)) CHECK(f.keeper->owner_of(p).type == process_owner::kind::ours);
  a.connection->finish_sending();
  f.until([&] { return a.exit.has_value(); });
  f.until([&] { return sleeping(of_a).empty(); });
  CHECK(sleeping(of_b).size() == hiding_processes);
  CHECK(b.endings == 0);
  ::kill(b.pid, SIGKILL);
  f.until([&] { return sleeping(of_b).empty() && b.exit.has_value(); });
  f.until([&] { return processes_below(f.keeper->pid()).empty(); });
}

TEST_CASE("G21: dropping a server ends its whole tree") {
  keeper_fixture f;
  server_recorder a;
  const auto word = unique_sleep();
  f.launch_shell(a, hiding_server(word));
  f.until([&] { return sleeping(word).size() == hiding_processes; });
  a.process.reset();
  f.until([&] { return sleeping(word).empty(); });
}

TEST_CASE("G21: a server that forks as fast as it can ends too") {
  keeper_fixture f;
  server_recorder a;
  const auto word = unique_sleep();
  f.launch_shell(a, "i=0; while [ $i -lt 40 ]; do (setsid sh -c 'sleep " + word + " & sleep " + word +
                        "' >/dev/null 2>&1 &); i=$((i+1)); done; echo up >&2; read x");
  f.until([&] { return !a.errors.empty(); });
  a.connection->finish_sending();
  f.until([&] { return a.exit.has_value() && sleeping(word).empty(); });
  f.until([&] { return processes_below(f.keeper->pid()).empty(); });
}

TEST_CASE("orphans that are to be kept stay after their server and after the daemon, but the server itself does not") {
  const auto left_behind = unique_sleep(), server = unique_sleep();
  {
    keeper_fixture f;
    server_recorder a, b;
    f.launch_shell(a, "sleep " + left_behind + " & read x", true);
    f.launch_shell(b, "(setsid sleep " + left_behind + " &); exec sleep " + server, true);
    f.until([&] { return a.connection && sleeping(left_behind).size() == 2 && sleeping(server).size() == 1; });
    a.connection->finish_sending();
    f.until([&] { return a.exit.has_value(); });
    CHECK(sleeping(left_behind).size() == 2);
  }
  CHECK(sleeping(server).empty());
  CHECK(sleeping(left_behind).size() == 2);
  kill_all_with(left_behind);
}

TEST_CASE("G21: SIGKILL of the daemon leaves no process") {
  const auto word = unique_sleep();
  const int servers = 5;
  const pid_t daemon = ::fork();
  if (daemon == 0) {
    // A small daemon; only the keeper may survive its end, and only for a moment.
    auto handle = fork_keeper();
    if (!handle) ::_exit(9);
    boost::asio::io_context io(1);
    manual_time time;
    keeper k(io.get_executor(), time, *handle, {}, [] {});
    std::vector<std::unique_ptr<server_recorder>> all;
    for (int i = 0; i < servers; ++i) {
      auto s = std::make_unique<server_recorder>();
      s->process = k.launch({"s", {"sh", "-c", hiding_server(word)}, {"PATH=/usr/bin:/bin"}, "/", false}, *s);
      all.push_back(std::move(s));
    }
    const auto guard = boost::asio::make_work_guard(io);
    io.run();
    ::_exit(0);
  }
  // Ends leftovers of this test, whatever fails below.
  struct cleaner {
    pid_t daemon;
    const std::string& word;
    ~cleaner() {
      ::kill(daemon, SIGKILL);
      ::waitpid(daemon, nullptr, 0);
      kill_all_with(word);
    }
  } const clean{daemon, word};
  boost::asio::io_context io(1);
  run_until(io, [&] { return sleeping(word).size() == servers * hiding_processes; });
  pid_t keeper = -1;
  for (const auto& node : processes_below(daemon))
    if (node.parent == daemon) keeper = node.pid;
  REQUIRE(keeper > 0);
  ::kill(daemon, SIGKILL);
  run_until(io, [&] { return sleeping(word).empty(); });
  // The new parent is this process (a keeper was forked here before) or init.
  run_until(io, [&] { return ::waitpid(keeper, nullptr, WNOHANG) == keeper || !exists(keeper) || has_ended(keeper); });
}

TEST_CASE("G21: the keeper is out of reach of the terminal's signals") {
  keeper_fixture f;
  server_recorder a;
  f.launch(a, {"cat"});
  f.until([&] { return a.pid > 0; });
  for (int number : {SIGINT, SIGTERM, SIGHUP, SIGQUIT, SIGPIPE, SIGTSTP}) ::kill(f.keeper->pid(), number);
  a.connection->send(as_segments(R"({"jsonrpc":"2.0","method":"ping"})"), {});
  f.until([&] { return a.seen.messages.size() == 1; });
  CHECK(f.lost == 0);
}

// The keeper with real children: the environment of a server, the report of its end, the reasons why it could not
// start.
#include "mcp/process/keeper/keeper.hpp"

#include "mcp/support/read_size.hpp"
#include "test/mcp/process/keeper/kept_processes.hpp"
#include "test/support/sanitized.hpp"
#include "test/support/temporary_directory.hpp"
#include "test/support/transport_recorder.hpp"

#include <doctest/doctest.h>

#include <fcntl.h>
#include <sys/resource.h>
#include <sys/socket.h>

#include <algorithm>
#include <array>
#include <map>
#include <memory>
#include <sstream>
#include <string>
#include <vector>

using namespace mcpbx;
using namespace mcpbx::mcp::keepers;
using namespace mcpbx::mcp::process;
using namespace mcpbx::mcp::rpc;
using namespace mcpbx::test;

namespace {

const std::string say_ping = "echo '" + ping + "'; ";

std::vector<std::string> zero_separated(const std::string& text) {
  std::vector<std::string> parts;
  std::istringstream in(text);
  for (std::string part; std::getline(in, part, '\0');) parts.push_back(part);
  return parts;
}

std::string status_line(pid_t pid, const std::string& name) {
  std::istringstream in(read_file("/proc/" + std::to_string(pid) + "/status"));
  for (std::string line; std::getline(in, line);)
    if (line.starts_with(name + ":")) return line.substr(name.size() + 2);
  return {};
}

}  // namespace

TEST_CASE("G1: the last answer before an exit arrives, then the exit with its status") {
  keeper_fixture f;
  for (int i = 0; i < 20; ++i) {
    server_recorder s;
    f.launch_shell(s, say_ping + say_ping + "echo last words >&2; exit 3");
    f.until([&] { return s.exit.has_value(); });
    CHECK(s.messages_at_exit == 2);
    CHECK(s.exit->text() == "exit status 3");
    CHECK(s.errors == "last words\n");
    CHECK(s.endings == 1);
  }
}

TEST_CASE("G1: a large last answer arrives whole before the exit, also to a user who had paused") {
  keeper_fixture f;
  server_recorder s;
  f.launch_shell(
      s, R"(printf '{"jsonrpc":"2.0","method":"m","params":{"t":"'; head -c 60000 /dev/zero | tr '\0' x; echo '"}}')");
  f.until([&] { return s.pid > 0; });
  s.connection->pause_reading(true);
  f.until([&] { return s.exit.has_value(); });
  CHECK(s.messages_at_exit == 1);
  CHECK(s.seen.message_bytes > 60'000);
}

TEST_CASE("a server that is killed by a signal is told as such") {
  keeper_fixture f;
  server_recorder s;
  f.launch_shell(s, "kill -ABRT $$");
  f.until([&] { return s.exit.has_value(); });
  CHECK(s.exit->text() == "signal 6 (SIGABRT)");
}

TEST_CASE("what is sent arrives at stdin and what comes back is delivered") {
  keeper_fixture f;
  server_recorder s;
  f.launch(s, {"cat"});
  f.until([&] { return s.connection != nullptr; });
  for (int i = 0; i < 1000; ++i) s.connection->send(as_segments(ping), {});
  s.connection->send(as_segments(notification_of(3u << 20)), {});
  f.until([&] { return s.seen.messages.size() == 1001; });
  CHECK(s.seen.messages.back() == notification_of(3u << 20));
  s.connection->finish_sending();
  f.until([&] { return s.exit.has_value(); });
  CHECK(s.exit->text() == "exit status 0");
  CHECK(s.seen.closings == 1);
}

TEST_CASE("G44: no shell stands between: arguments arrive byte for byte") {
  keeper_fixture f;
  server_recorder s;
  const std::vector<std::string> argv = {"/bin/sh", "-c", "read x", "$(touch /tmp/x)", "a b",
                                         "",        ";",  "*",      "\n`id`",          "\xff"};
  f.launch(s, argv);
  f.until([&] { return s.pid > 0; });
  CHECK(zero_separated(read_file("/proc/" + std::to_string(s.pid) + "/cmdline")) == argv);
}

TEST_CASE("G36: the environment is exactly what was given") {
  ::setenv("CANARY_SECRET", "canary", 1);
  keeper_fixture f;
  server_recorder s, bare;
  const std::vector<std::string> environment = {"PATH=/usr/bin:/bin", "EMPTY=", "A=b=c d"};
  f.launch_spec(s, {"test", {"cat"}, environment, "/tmp", false});
  f.launch_spec(bare, {"test", {"/bin/cat"}, {}, "/", false});
  f.until([&] { return s.pid > 0 && bare.pid > 0; });
  CHECK(zero_separated(read_file("/proc/" + std::to_string(s.pid) + "/environ")) == environment);
  CHECK(read_file("/proc/" + std::to_string(bare.pid) + "/environ").empty());
  CHECK(std::filesystem::read_symlink("/proc/" + std::to_string(s.pid) + "/cwd") == "/tmp");
  ::unsetenv("CANARY_SECRET");
}

TEST_CASE("G22: a server has descriptors 0 to 2 and nothing else, default signals and a group of its own") {
  std::array<int, 2> inheritable{};
  REQUIRE(::socketpair(AF_UNIX, SOCK_STREAM, 0, inheritable.data()) == 0);  // as a careless library leaves them
  keeper_fixture f;
  server_recorder first, s;
  f.launch(first, {"cat"});
  f.launch(s, {"cat"});
  f.until([&] { return first.pid > 0 && s.pid > 0; });
  // A server that answers is loaded; before that, the loader has its libraries open.
  s.connection->send(as_segments(ping), {});
  f.until([&] { return !s.seen.messages.empty(); });
  std::set<std::string> descriptors;
  for (const auto& e : std::filesystem::directory_iterator("/proc/" + std::to_string(s.pid) + "/fd"))
    descriptors.insert(e.path().filename());
  CHECK(descriptors == std::set<std::string>{"0", "1", "2"});
  CHECK(status_line(s.pid, "SigIgn") == "0000000000000000");
  CHECK(status_line(s.pid, "SigBlk") == "0000000000000000");
  CHECK(::getpgid(s.pid) == s.pid);
  CHECK(::getsid(s.pid) == f.keeper->pid());
  CHECK(f.keeper->owner_of(s.pid).type == process_owner::kind::ours);
  CHECK(f.keeper->owner_of(f.keeper->pid()).type == process_owner::kind::ours);
  CHECK(f.keeper->owner_of(::getpid()).type == process_owner::kind::unknown);
  CHECK(f.keeper->owner_of(::getppid()).type == process_owner::kind::stranger);
  CHECK(f.keeper->owner_of(0x7fffffff).type == process_owner::kind::unknown);
  ::close(inheritable[0]);
  ::close(inheritable[1]);
}

TEST_CASE("the keeper holds nothing of the daemon but its control socket and stderr") {
  std::array<int, 2> inheritable{};
  REQUIRE(::pipe(inheritable.data()) == 0);
  keeper_fixture f;
  server_recorder s;
  f.launch(s, {"cat"});
  f.until([&] { return s.pid > 0; });
  // 0, 1, 2, control, deaths; copies of the pipes are closed once they were passed on.
  f.until([&] { return open_descriptors(f.keeper->pid()) == 5; });
  CHECK(read_file("/proc/" + std::to_string(f.keeper->pid()) + "/comm") == "mcpbx-keeper\n");
  CHECK(::getsid(f.keeper->pid()) == f.keeper->pid());
  ::close(inheritable[0]);
  ::close(inheritable[1]);
}

TEST_CASE("G35: the keeper leaves no core file with the environments it passes on, and servers keep their limit") {
  rlimit before{};
  REQUIRE(::getrlimit(RLIMIT_CORE, &before) == 0);
  rlimit wanted = before;
  wanted.rlim_cur = before.rlim_max;
  REQUIRE(::setrlimit(RLIMIT_CORE, &wanted) == 0);
  const auto soft_limit_of = [](pid_t pid) {
    rlimit limit{};
    CHECK(::prlimit(pid, RLIMIT_CORE, nullptr, &limit) == 0);
    return limit.rlim_cur;
  };
  {
    keeper_fixture f;
    server_recorder s;
    f.launch(s, {"cat"});
    f.until([&] { return s.pid > 0; });
    CHECK(soft_limit_of(f.keeper->pid()) <= 1);
    CHECK(soft_limit_of(s.pid) == before.rlim_max);
  }
  CHECK(::setrlimit(RLIMIT_CORE, &before) == 0);
}

TEST_CASE("G20: a signal reaches the whole group") {
  keeper_fixture f;
  server_recorder s;
  const auto word = unique_sleep();
  f.launch_shell(s, "sleep " + word + " & sleep " + word);
  f.until([&] { return sleeping(word).size() == 2; });
  s.process->signal(SIGTERM);
  f.until([&] { return s.exit.has_value(); });
  CHECK(s.exit->text() == "signal 15 (SIGTERM)");
  f.until([&] { return sleeping(word).empty(); });
}

TEST_CASE("G20: a server that ignores SIGTERM ends by SIGKILL") {
  keeper_fixture f;
  server_recorder s;
  f.launch_shell(s, "trap '' TERM; " + say_ping + "while :; do read x || sleep 1000; done");
  f.until([&] { return s.seen.messages.size() == 1; });
  s.process->signal(SIGTERM);
  s.process->signal(0);
  s.process->signal(SIGKILL);
  f.until([&] { return s.exit.has_value(); });
  CHECK(s.exit->text() == "signal 9 (SIGKILL)");
}

TEST_CASE("dropping a process kills it and nothing more is told") {
  keeper_fixture f;
  server_recorder s;
  f.launch_shell(s, "trap '' TERM; echo up >&2; while :; do echo more >&2; done");
  f.until([&] { return !s.errors.empty(); });
  const pid_t pid = s.pid;
  s.process.reset();
  s.errors.clear();
  f.until([&] { return !exists(pid); });
  run_ready(f.io);
  CHECK(s.endings == 0);
  CHECK(s.errors.empty());
}

TEST_CASE("a process may be dropped before it was spawned and from inside its events") {
  keeper_fixture f;
  const auto word = unique_sleep();
  {
    server_recorder early;
    f.launch(early, {"sleep", word});
    early.process.reset();
    server_recorder other;
    f.launch(other, {"cat"});
    f.until([&] { return other.pid > 0; });
    CHECK(early.endings == 0);
    CHECK(early.pid == -1);
  }
  f.until([&] { return sleeping(word).empty(); });

  server_recorder s, t;
  s.on_end = [&] { s.process.reset(); };
  f.launch_shell(s, "exit 1");
  t.on_end = [&] { t.process.reset(); };
  f.launch(t, {"no-such-program"});
  f.until([&] { return s.endings == 1 && t.endings == 1; });
  run_ready(f.io);
}

TEST_CASE("G8: each cause of a failed start is named, leaves no zombie, and the keeper goes on") {
  keeper_fixture f;
  temporary_directory d;
  d.write("plain", "#!/bin/sh\n");
  d.write("no-hashbang", "echo hello\n", true);
  d.write("lost-interpreter", "#!/no/such/node\n", true);
  std::vector<std::pair<process_spec, std::string>> cases = {
      {{"a", {"npx-gone"}, {"PATH=/usr/bin"}, "/", false}, "no such program \"npx-gone\" in PATH=/usr/bin"},
      {{"b", {"./plain"}, {}, d.path(), false}, "is not executable"},
      {{"c", {"cat"}, {"PATH=/bin"}, d / "gone", false}, "no such directory"},
      {{"d", {"./no-hashbang"}, {}, d.path(), false}, "neither a program nor a script with a \"#!\" line"},
      {{"e", {"./lost-interpreter"}, {}, d.path(), false}, "names the interpreter \"/no/such/node\""},
      {{"f", {}, {}, "/", false}, "there is no command to run"},
      {{"g", {"/bin/cat", std::string(200'000, 'x')}, {}, "/", false}, "larger than the system takes"},
      {{"h", {"/bin/cat", std::string(5u << 20, 'x')}, {}, "/", false}, "at most 4 MiB can be passed"},
  };
  for (const auto& [spec, text] : cases) {
    server_recorder s;
    f.launch_spec(s, spec);
    CHECK_FALSE(s.failed);  // never from inside launch
    f.until([&] { return s.endings == 1; });
    REQUIRE(s.failed);
    INFO(s.failed->message);
    CHECK(s.failed->message.find(text) != std::string::npos);
    CHECK(s.pid == -1);
  }
  CHECK(processes_below(f.keeper->pid()).empty());
  server_recorder good;
  f.launch_shell(good, "exit 0");
  f.until([&] { return good.exit.has_value(); });
}

TEST_CASE("an environment of nearly a megabyte is passed on") {
  keeper_fixture f;
  std::vector<process_spec> specs;
  std::vector<std::string> environment = {"PATH=/usr/bin:/bin"};
  for (int i = 0; i < 9; ++i) environment.push_back("BIG" + std::to_string(i) + "=" + std::string(100'000, 'x'));
  std::array<server_recorder, 3> all;
  for (auto& s : all) f.launch_spec(s, {"big", {"cat"}, environment, "/", false});
  f.until([&] { return std::ranges::all_of(all, [](const auto& s) { return s.pid > 0; }); });
  CHECK(zero_separated(read_file("/proc/" + std::to_string(all[2].pid) + "/environ")) == environment);
}

TEST_CASE("G9: a flood on stderr is drained whole and the exit comes behind it") {
  keeper_fixture f;
  server_recorder s;
  f.launch_shell(s, "head -c 5000000 /dev/zero >&2; echo end >&2; " + say_ping);
  f.until([&] { return s.exit.has_value(); });
  CHECK(s.errors.size() == 5'000'004);
  CHECK(s.messages_at_exit == 1);
}

TEST_CASE("an exit is told although a descendant holds the pipes open") {
  keeper_fixture f;
  server_recorder s;
  const auto word = unique_sleep();
  f.launch_shell(s, "sleep " + word + " & " + say_ping + "exit 3", true);
  f.until([&] { return s.exit.has_value(); });
  CHECK(s.exit->text() == "exit status 3");
  CHECK(s.messages_at_exit == 1);
  f.until([&] { return sleeping(word).size() == 1; });  // the process was to be kept
  for (pid_t p : sleeping(word)) ::kill(p, SIGKILL);
}

TEST_CASE("an exit is told although a descendant floods the pipes") {
  keeper_fixture f;
  server_recorder s;
  s.seen.keep_texts = false;
  // yes(1) goes on writing into the pipe of the dead server; it is kept, so only the time limit ends the draining.
  f.launch_shell(s, "yes '" + ping + "' & echo $! >&2; exit 0", true);
  f.until([&] {
    f.time.advance(milliseconds(1));
    return s.exit.has_value();
  });
  CHECK(s.exit->text() == "exit status 0");
  ::kill(static_cast<pid_t>(std::stol(s.errors)), SIGKILL);
}

TEST_CASE("G22: 10,000 spawns leave no descriptor and no zombie") {
  keeper_fixture f;
  std::size_t ours = 0, keepers = 0;
  // The first round opens the descriptors that stay open; in each round, 16 servers are started and 4 cannot be.
  // With sanitizers and in shortened reads each kind of ending comes a hundred times, else the whole number.
  const int rounds = sanitized || shorten_read != nullptr ? 25 : 625;
  for (int round = 0; round <= rounds; ++round) {
    std::vector<std::unique_ptr<server_recorder>> all;
    for (int i = 0; i < 20; ++i) {
      auto s = std::make_unique<server_recorder>();
      if (i % 5 == 4) {
        f.launch(*s, {"no-such-program"});
      } else {
        f.launch_shell(*s, i % 2 == 0 ? "exit 0" : say_ping + "cat");
      }
      if (i % 2 == 1) s->seen.on_each = [raw = s.get()](const message&) { raw->connection->finish_sending(); };
      all.push_back(std::move(s));
    }
    f.until([&] { return std::ranges::all_of(all, [](const auto& s) { return s->endings == 1; }); });
    all.clear();
    f.until([&] { return processes_below(f.keeper->pid()).empty(); });
    run_ready(f.io);
    if (round == 0) {
      ours = open_descriptors(::getpid());
      keepers = open_descriptors(f.keeper->pid());
    }
  }
  CHECK(open_descriptors(::getpid()) == ours);
  CHECK(open_descriptors(f.keeper->pid()) == keepers);
}

TEST_CASE("G26: without descriptors left a spawn fails with a clear error and leaves no process") {
  keeper_fixture f;
  const auto word = unique_sleep();
  server_recorder s, after;
  rlimit before{};
  ::getrlimit(RLIMIT_NOFILE, &before);
  const int highest = ::dup(0);
  ::close(highest);
  rlimit few = before;
  few.rlim_cur = static_cast<rlim_t>(highest) + 2;  // room for two of the three pipe ends
  ::setrlimit(RLIMIT_NOFILE, &few);
  f.launch(s, {"sleep", word});
  f.until([&] { return s.endings == 1; });
  ::setrlimit(RLIMIT_NOFILE, &before);
  REQUIRE(s.failed);
  CHECK(s.failed->message.find("no descriptors left") != std::string::npos);
  f.until([&] { return sleeping(word).empty(); });
  f.launch_shell(after, say_ping);
  f.until([&] { return after.exit.has_value(); });
  CHECK(after.messages_at_exit == 1);
}

TEST_CASE("after shut_down nothing is left, nothing is told and a launch fails with a reason") {
  keeper_fixture f;
  server_recorder s, late;
  const auto word = unique_sleep();
  f.launch_shell(s, "trap '' TERM HUP INT; sleep " + word);
  f.until([&] { return sleeping(word).size() == 1; });
  const pid_t keeper = f.keeper->pid();
  f.keeper->shut_down();
  CHECK_FALSE(exists(keeper));
  CHECK(sleeping(word).empty());
  run_ready(f.io);
  CHECK(s.endings == 0);
  s.process->signal(SIGTERM);
  s.process.reset();
  f.launch(late, {"cat"});
  f.until([&] { return late.endings == 1; });
  CHECK(late.failed->message == "mcpbx is stopping");
  f.keeper->shut_down();
  CHECK(f.lost == 0);
}

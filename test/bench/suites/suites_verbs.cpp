// CPU time of each verb, of a completion, of a reload with 50 servers that stay as they are, and of `mcpbx top` at a
// terminal.
#include "test/bench/calls.hpp"
#include "test/bench/session.hpp"
#include "test/bench/suites/suites.hpp"

#include <pty.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <string>
#include <string_view>
#include <vector>

namespace mcpbx::bench {
namespace {

using words = std::vector<std::string>;
constexpr int many_servers = 50;
constexpr std::string_view reload_row = "reload, 50 servers unchanged, CPU", top_row = "mcpbx top, CPU",
                           disturbed_row = "calls around a reload that failed",
                           completion_row = "completion of a tool's name, CPU";

/// Commands that are measured; TOOL stands for the name of a tool, ARGUMENTS for its arguments.
const std::vector<words>& measured_verbs() {
  static const std::vector<words> all{{"help"},
                                      {"status"},
                                      {"servers"},
                                      {"tools", "TOOL"},
                                      {"tools", "--search", "echo"},
                                      {"why", "TOOL"},
                                      {"call", "TOOL", "--args", "ARGUMENTS"},
                                      {"ask", "-m", "demo", "hello"},
                                      {"ask", "--dry-run", "-m", "demo", "hello"},
                                      {"resources"},
                                      {"prompts"},
                                      {"models"},
                                      {"sessions"},
                                      {"sessions", "find", "hello"},
                                      {"export", "--all"},
                                      {"stats"},
                                      {"logs", "-n", "10", "s1"},
                                      {"pins"},
                                      {"auth"},
                                      {"wait"},
                                      {"reload"},
                                      {"top", "--once"},
                                      {"config", "show"},
                                      {"config", "check"},
                                      {"config", "path"},
                                      {"add", "one", "--dry-run", "--", "true"},
                                      {"install", "--list"},
                                      {"completion", "bash"},
                                      {"doctor"}};
  return all;
}

std::string row_of(const words& verb) {
  std::string row = "mcpbx";
  for (const auto& word : verb) row += " " + word;
  return row + ", CPU";
}

words command(const bench_options& o, const std::string& socket, const words& verb, const std::string& tool) {
  words argv{o.bin + "/mcpbx", "--socket", socket};
  for (const auto& word : verb) argv.push_back(word == "TOOL" ? tool : word == "ARGUMENTS" ? short_arguments() : word);
  return argv;
}

void measure_verbs(const bench_options& o, const session& daemon, report& out) {
  for (const auto& verb : measured_verbs())
    for (int i = 0; i < (o.quick ? 2 : 5); ++i) {
      // Statuses are not judged: `doctor` may find something.
      const double ms = process(command(o, daemon.socket(), verb, daemon.tool()), process::io::none).finish();
      if (ms >= 0) out.add(row_of(verb), "mcpbx", ms);
    }
  for (int i = 0; i < (o.quick ? 2 : 5); ++i) {
    const double ms =
        process({o.bin + "/mcpbx", "__complete", "zsh", "--socket", daemon.socket(), "call", ""}, process::io::none)
            .finish();
    if (ms < 0) give_up("the completion failed");
    out.add(std::string(completion_row), "mcpbx", ms);
  }
}

// Sends calls in front of a reload and behind it, all at once, and counts those that did not succeed.
int disturbed_calls(session& daemon) {
  constexpr int each = 32;
  int open = 0, failed = 0;
  const auto call = [&] {
    daemon.send(R"({"jsonrpc":"2.0","id":)" + std::to_string(daemon.next_id()) + R"(,"method":"tools/call","params":)" +
                daemon.params_of(R"({"name":")" + daemon.tool() + R"(","arguments":)" + short_arguments() + "}") + "}");
    ++open;
  };
  for (int i = 0; i < each; ++i) call();
  daemon.send(R"({"jsonrpc":"2.0","id":)" + std::to_string(daemon.next_id()) + R"(,"method":"mcpbx/reload"})");
  ++open;
  for (int i = 0; i < each; ++i) call();
  while (open > 0)
    daemon.pump([&](std::string_view line) {
      if (line.find(R"("id":)") == line.npos || line.find(R"("method":)") != line.npos) return;
      --open;
      failed += line.find(R"("error":)") != line.npos ? 1 : 0;
    });
  return failed;
}

void measure_reload(const bench_options& o, session& daemon, report& out) {
  for (int i = 0; i < (o.quick ? 3 : 10); ++i) {
    const auto before = daemon.own().weigh().cpu_ns;
    daemon.request("mcpbx/reload", "{}");
    ::usleep(20'000);  // work of later turns counts, too
    out.add(std::string(reload_row), "mcpbx", static_cast<double>(daemon.own().weigh().cpu_ns - before) / 1e6);
  }
  out.add(std::string(disturbed_row), "mcpbx", disturbed_calls(daemon));
}

double cpu_ms_of(pid_t pid) {
  std::ifstream stat("/proc/" + std::to_string(pid) + "/schedstat");
  double ns = 0;
  stat >> ns;
  return ns / 1e6;
}

// Watches `mcpbx top` at a terminal for some seconds, with what it costs the daemon.
void measure_top(const bench_options& o, const session& daemon, report& out) {
  const std::string program = o.bin + "/mcpbx", socket = daemon.socket();
  int terminal = -1;
  struct winsize size{40, 120, 0, 0};
  const pid_t top = ::forkpty(&terminal, nullptr, nullptr, &size);
  if (top < 0) give_up("there is no terminal for `mcpbx top`");
  if (top == 0) {
    ::setenv("TERM", "xterm", 1);
    ::execl(program.c_str(), "mcpbx", "--socket", socket.c_str(), "top", nullptr);
    ::_exit(127);
  }
  std::array<char, 65536> shown{};
  const auto read_for = [&](double seconds) {
    const double until = now_us() + seconds * 1e6;
    while (now_us() < until) {
      fd_set ready;
      FD_ZERO(&ready);
      FD_SET(terminal, &ready);
      struct timeval wait{0, 50'000};
      if (::select(terminal + 1, &ready, nullptr, nullptr, &wait) > 0 &&
          ::read(terminal, shown.data(), shown.size()) <= 0)
        give_up("`mcpbx top` ended early");
    }
  };
  read_for(1);
  const double begun = now_us(), top_before = cpu_ms_of(top);
  const auto before = daemon.own().weigh().cpu_ns;
  read_for(o.quick ? 4 : 10);
  const double spent = cpu_ms_of(top) - top_before + static_cast<double>(daemon.own().weigh().cpu_ns - before) / 1e6;
  out.add(std::string(top_row), "mcpbx", 100 * spent / ((now_us() - begun) / 1e3));
  ::kill(top, SIGTERM);
  ::close(terminal);
  ::waitpid(top, nullptr, 0);
}

}  // namespace

void declare_verb_rows(report& out) {
  for (const auto& verb : measured_verbs()) out.show({row_of(verb), "ms", 1, "", false, "at most 10"});
  out.show({std::string(completion_row), "ms", 1, "", false, "at most 15"});
  out.show({std::string(reload_row), "ms", 1, "", false, "at most 30"});
  out.show({std::string(disturbed_row), "calls", 0, "", false, "none"});
  out.show({std::string(top_row), "%", 2, "", false, "at most 1"});
}

void suite_verbs(const bench_options& o, report& out) {
  session daemon(target::mcpbx,
                 {.bin = o.bin, .servers = many_servers, .more = R"("models":{"demo":{"api":"rehearsal"}},)"});
  ::setenv("MCPBX_CONFIG", (std::filesystem::path(daemon.socket()).parent_path() / "c.json").c_str(), 1);
  measure_verbs(o, daemon, out);
  measure_reload(o, daemon, out);
  measure_top(o, daemon, out);
}

}  // namespace mcpbx::bench

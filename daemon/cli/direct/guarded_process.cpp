// The guardian is forked without exec, so it uses nothing but system calls and /proc.
#include "daemon/cli/direct/guarded_process.hpp"

#include "mcp/process/process_tree.hpp"
#include "mcp/process/program_lookup.hpp"

#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <cstdint>
#include <cstring>
#include <string>
#include <utility>
#include <vector>

namespace mcpbx::cli::direct {
namespace {

using std::chrono::milliseconds;
using steady = std::chrono::steady_clock;
constexpr milliseconds polite{300}, insist{500}, at_last{2'000}, start_limit{10'000};

// The guardian's report: an errno of exec, or the end of the program.
struct report {
  enum class what : std::int32_t { started, not_started, exited, signalled };
  what is = what::started;
  std::int32_t value = 0;
};

void send_report(int fd, report::what is, int value) {
  const report r{is, value};
  (void)!::write(fd, &r, sizeof r);
}

// Ends everything below the guardian, first politely. Processes may fork meanwhile, so it looks until none is left.
void end_all_below() {
  const auto until_polite = steady::now() + insist, until = steady::now() + at_last;
  for (const auto& p : mcp::process::processes_below(::getpid())) ::kill(p.pid, SIGTERM);
  for (;;) {
    while (::waitpid(-1, nullptr, WNOHANG) > 0) {
    }
    const auto left = mcp::process::processes_below(::getpid());
    if (left.empty() || steady::now() >= until) return;
    if (steady::now() >= until_polite)
      for (const auto& p : left) ::kill(p.pid, SIGKILL);
    ::poll(nullptr, 0, 2);
  }
}

// Descriptors that the guardian needs.
struct guard_ends {
  int life, report;
};

[[noreturn]] void guard(pid_t program, const guard_ends& ends, int started) {
  // The program's own end of `started` is closed by exec; otherwise an errno comes.
  int number = 0;
  if (::read(started, &number, sizeof number) == sizeof number) {
    ::waitpid(program, nullptr, 0);
    send_report(ends.report, report::what::not_started, number);
    ::_exit(0);
  }
  ::close(started);
  send_report(ends.report, report::what::started, 0);
  bool told = false;
  for (;;) {
    pollfd life{ends.life, POLLIN, 0};
    const int ready = ::poll(&life, 1, told ? 200 : 10);
    for (;;) {
      int status = 0;
      const pid_t gone = ::waitpid(-1, &status, WNOHANG);
      if (gone <= 0) break;
      if (gone != program || std::exchange(told, true)) continue;
      if (WIFSIGNALED(status))
        send_report(ends.report, report::what::signalled, WTERMSIG(status));
      else
        send_report(ends.report, report::what::exited, WEXITSTATUS(status));
    }
    if (ready > 0) break;  // nobody writes to it: its other end was closed
  }
  end_all_below();
  ::_exit(0);
}

struct pipe_ends {
  mcp::process::unique_fd read{}, write{};
};

result<pipe_ends> make_pipe() {
  int ends[2];
  if (::pipe2(ends, O_CLOEXEC) != 0) return fail(errc::io, std::string("no pipe for it: ") + std::strerror(errno));
  return pipe_ends{mcp::process::unique_fd(ends[0]), mcp::process::unique_fd(ends[1])};
}

[[noreturn]] void become(const mcp::process::process_spec& spec, const std::string& program,
                         const std::array<int, 3>& streams, int started) {
  ::setpgid(0, 0);
  ::prctl(PR_SET_PDEATHSIG, SIGKILL);
  std::vector<char*> argv, environment;
  for (const auto& word : spec.argv) argv.push_back(const_cast<char*>(word.c_str()));
  for (const auto& line : spec.environment) environment.push_back(const_cast<char*>(line.c_str()));
  argv.push_back(nullptr);
  environment.push_back(nullptr);
  for (int number = 1; number < NSIG; ++number) ::signal(number, SIG_DFL);
  for (int i = 0; i < 3; ++i) ::dup2(streams[static_cast<std::size_t>(i)], i);
  ::close_range(3, ~0U, CLOSE_RANGE_CLOEXEC);
  if (::chdir(spec.directory.c_str()) == 0) ::execve(program.c_str(), argv.data(), environment.data());
  const int number = errno;
  (void)!::write(started, &number, sizeof number);
  ::_exit(127);
}

}  // namespace

result<guarded_process> guarded_process::start(const mcp::process::process_spec& spec) {
  const auto program = mcp::process::find_program(spec);
  if (!program) return std::unexpected(program.error());
  std::array<pipe_ends, 5> pipes;  // stdin, stdout, stderr, life, report
  for (auto& p : pipes) {
    auto made = make_pipe();
    if (!made) return std::unexpected(made.error());
    p = std::move(*made);
  }
  const pid_t guardian = ::fork();
  if (guardian < 0) return fail(errc::io, std::string("it cannot be started: ") + std::strerror(errno));
  if (guardian == 0) {
    ::setsid();
    ::prctl(PR_SET_CHILD_SUBREAPER, 1);
    ::signal(SIGPIPE, SIG_IGN);
    for (const int number : {SIGINT, SIGTERM, SIGHUP, SIGQUIT}) ::signal(number, SIG_IGN);
    int started[2];
    if (::pipe2(started, O_CLOEXEC) != 0) ::_exit(127);
    const pid_t child = ::fork();
    if (child == 0)
      become(spec, *program, {pipes[0].read.get(), pipes[1].write.get(), pipes[2].write.get()}, started[1]);
    // Nothing of the command stays open here: not its terminal, not the other ends of these pipes.
    const guard_ends ends{pipes[3].read.get(), pipes[4].write.get()};
    const int null = ::open("/dev/null", O_RDWR | O_CLOEXEC);
    for (int fd = 0; fd < 3; ++fd) ::dup2(null, fd);
    ::close(started[1]);
    for (int fd = 3; fd < 1024; ++fd)
      if (fd != ends.life && fd != ends.report && fd != started[0]) ::close(fd);
    if (child < 0) ::_exit(127);
    guard(child, ends, started[0]);
  }
  guarded_process made;
  made.guardian_ = guardian;
  made.input_ = std::move(pipes[0].write);
  made.output_ = std::move(pipes[1].read);
  made.errors_ = std::move(pipes[2].read);
  made.life_ = std::move(pipes[3].write);
  made.report_ = std::move(pipes[4].read);
  pipes = std::array<pipe_ends, 5>{};
  report r;
  pollfd one{made.report_.get(), POLLIN, 0};
  const ssize_t n =
      ::poll(&one, 1, static_cast<int>(start_limit.count())) > 0 ? ::read(made.report_.get(), &r, sizeof r) : -1;
  if (n != sizeof r) return fail(errc::io, "it could not be started");
  if (r.is == report::what::not_started)
    return fail(r.value == ENOENT ? errc::not_found : errc::io, mcp::process::explain_exec_failure(*program, r.value));
  for (const int fd : {made.input_.get(), made.output_.get(), made.errors_.get()})
    ::fcntl(fd, F_SETFL, ::fcntl(fd, F_GETFL) | O_NONBLOCK);
  return made;
}

std::optional<mcp::process::process_exit> guarded_process::ended(milliseconds at_most) {
  if (end_) return end_;
  pollfd one{report_.get(), POLLIN, 0};
  if (::poll(&one, 1, static_cast<int>(at_most.count())) <= 0) return std::nullopt;
  report r;
  if (::read(report_.get(), &r, sizeof r) != sizeof r) return std::nullopt;
  end_ = mcp::process::process_exit{r.is == report::what::signalled, r.value};
  return end_;
}

guarded_process::~guarded_process() {
  if (life_.get() < 0) return;  // moved from, or never started
  input_ = mcp::process::unique_fd();
  output_ = mcp::process::unique_fd();
  errors_ = mcp::process::unique_fd();
  (void)ended(polite);
  life_ = mcp::process::unique_fd();
  // Wait for the guardian, so that nothing runs any more when the command goes on.
  const auto deadline = steady::now() + at_last + insist;
  while (::waitpid(guardian_, nullptr, WNOHANG) == 0 && steady::now() < deadline) ::poll(nullptr, 0, 1);
}

}  // namespace mcpbx::cli::direct

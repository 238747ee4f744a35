// The keeper's own process: one loop over the control socket and the deaths of children. It holds nothing worth losing;
// when it ends, everything below it ends too.
#include "mcp/process/core_files.hpp"
#include "mcp/process/keeper/control_channel.hpp"
#include "mcp/process/keeper/keeper.hpp"
#include "mcp/process/keeper/lookup_process.hpp"
#include "mcp/process/process_tree.hpp"
#include "mcp/process/spawn.hpp"
#include "mcp/support/heap.hpp"

#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/signalfd.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <chrono>
#include <cstring>
#include <ctime>
#include <map>
#include <string>
#include <unordered_map>
#include <unordered_set>
#include <utility>
#include <variant>
#include <vector>

namespace mcpbx::mcp::keepers {
namespace {

namespace wire = keeper_protocol;

constexpr int control_at = 3;
constexpr int sweep_ms = 10;         // time between looks at a tree that is being ended …
constexpr int slow_sweep_ms = 1000;  // … and after many such looks (a process stuck in the kernel)
constexpr int patient_sweeps = 500;
constexpr std::size_t max_stuck = 64;  // look-ups that survive SIGKILL, in a mount that does not answer

using clock = std::chrono::steady_clock;

void pause_ms(long ms) {
  const timespec t{ms / 1000, ms % 1000 * 1'000'000};
  ::nanosleep(&t, nullptr);
}

process::process_exit to_exit(int status) {
  if (WIFSIGNALED(status)) return {true, WTERMSIG(status)};
  return {false, WEXITSTATUS(status)};
}

class keeper_loop {
 public:
  keeper_loop(int control_fd, int deaths_fd, const keeper_options& options)
      : control_fd_(control_fd), deaths_fd_(deaths_fd), options_(options), control_(control_fd) {}

  void run() {
    std::vector<pollfd> waits;
    for (;;) {
      waits.assign({{control_fd_, POLLIN, 0}, {deaths_fd_, POLLIN, 0}});
      if (control_.wants_to_write()) waits[0].events |= POLLOUT;
      for (const auto& [number, s] : starting_) waits.push_back({s.lookup.descriptor(), POLLIN, 0});
      if (::poll(waits.data(), waits.size(), next_look_ms()) < 0 && errno != EINTR) return;
      if ((waits[1].revents & POLLIN) != 0) {
        std::array<signalfd_siginfo, 16> deaths;
        while (::read(deaths_fd_, deaths.data(), sizeof deaths) > 0) continue;
        if (reap()) sweeps_ = clean_looks_ = 0;
      }
      if (!ended_.empty()) sweep();
      if (!starting_.empty()) start_what_was_found();
      const bool connected = waits[0].revents == 0 || control_.receive();
      while (const auto frame = control_.next_frame()) handle(*frame);
      if (!connected || !control_.flush()) return;
    }
  }

  /// Ends everything below this process, except processes that servers with keep_orphans left behind.
  void end_all() {
    for (const auto& [number, s] : servers_) ::kill(s.keep ? s.pid : -s.pid, SIGKILL);
    int clean_looks = 0;
    for (int round = 0; clean_looks < 2; ++round) {
      reap();
      const auto below = process::doomed_below(
          ::getpid(), ::getpid(), process::fate::end, [&](pid_t pid, const process::server_mark& mark) {
            return mark.keep && !leaders_.contains(pid) ? process::fate::stay : process::fate::end;
          });
      if (process::kill_living(below) == 0 && leaders_.empty()) {
        ++clean_looks;
      } else {
        clean_looks = 0;
        pause_ms(round < patient_sweeps ? 2 : slow_sweep_ms);
      }
    }
    reap();
  }

 private:
  struct server {
    pid_t pid = -1;
    bool keep = false;
    std::uint32_t mark = 0;
  };
  // A server whose program is being looked up.
  struct start {
    process::process_spec spec;
    lookup_process lookup;
    clock::time_point limit;
  };

  // Returns the time that poll may wait, in milliseconds; -1: no limit.
  int next_look_ms() const {
    int wait = ended_.empty() ? -1 : sweeps_ < patient_sweeps ? sweep_ms : slow_sweep_ms;
    for (const auto& [number, s] : starting_) {
      const auto left = std::chrono::ceil<std::chrono::milliseconds>(s.limit - clock::now()).count();
      const int ms = static_cast<int>(std::clamp<std::int64_t>(left, 0, 60'000));
      wait = wait < 0 ? ms : std::min(wait, ms);
    }
    return wait;
  }

  void handle(std::string_view frame) {
    auto request = keeper_protocol::decode_request(frame);
    if (!request) return;
    if (auto* s = std::get_if<keeper_protocol::spawn>(&*request)) return look_up(std::move(*s));
    const auto& s = std::get<keeper_protocol::send_signal>(*request);
    if (starting_.erase(s.server) != 0)
      return refuse(s.server, {errc::cancelled, "it was ended while its program was looked for"});
    const auto found = servers_.find(s.server);
    if (found != servers_.end()) ::kill(-found->second.pid, s.number);
  }

  void refuse(keeper_protocol::server_number number, error why) {
    control_.send(
        keeper_protocol::encode(keeper_protocol::notice(keeper_protocol::spawn_failed{number, std::move(why)})));
  }

  void look_up(keeper_protocol::spawn request) {
    std::erase_if(stuck_, [](pid_t pid) { return ::kill(pid, 0) != 0; });
    if (stuck_.size() >= max_stuck)
      return refuse(request.server, {errc::limit, std::to_string(stuck_.size()) +
                                                      " earlier look-ups of programs are stuck in a file system that "
                                                      "does not answer; mend or unmount it"});
    auto lookup = lookup_process::begin(request.spec, options_.find);
    if (!lookup) return refuse(request.server, lookup.error());
    starting_.emplace(request.server,
                      start{std::move(request.spec), std::move(*lookup), clock::now() + options_.lookup_limit});
  }

  void start_what_was_found() {
    for (auto at = starting_.begin(); at != starting_.end();) {
      auto& [number, s] = *at;
      if (const auto program = s.lookup.poll()) {
        if (*program)
          launch(number, s.spec, **program);
        else
          refuse(number, program->error());
      } else if (s.limit <= clock::now()) {
        stuck_.push_back(s.lookup.pid());
        refuse(number,
               {errc::timed_out, "looking for \"" + s.spec.argv.front() +
                                     "\" took too long: a directory in its "
                                     "PATH, or its working directory \"" +
                                     s.spec.directory + "\", does not answer (a network mount whose server is gone?)"});
      } else {
        ++at;
        continue;
      }
      at = starting_.erase(at);
    }
  }

  void launch(keeper_protocol::server_number number, const process::process_spec& spec, const std::string& program) {
    const process::server_mark mark{::getpid(), static_cast<std::uint32_t>(number & 0x3fffffff), spec.keep_orphans};
    const auto started = process::spawn_process(spec, program, process::to_limit(mark));
    if (!started) return refuse(number, started.error());
    servers_[number] = {started->pid, mark.keep, mark.server};
    leaders_[started->pid] = number;
    control_.send(keeper_protocol::encode(keeper_protocol::notice(keeper_protocol::spawned{number, started->pid})),
                  {started->input, started->output, started->errors});
  }

  // Reaps every child that has ended. Returns true if a server was among them.
  bool reap() {
    bool server_ended = false;
    for (;;) {
      siginfo_t info{};
      if (::waitid(P_ALL, 0, &info, WEXITED | WNOHANG | WNOWAIT) != 0) {
        if (errno == EINTR) continue;
        return server_ended;  // no children
      }
      if (info.si_pid == 0) return server_ended;
      const auto leader = leaders_.find(info.si_pid);
      // While the leader is not reaped, the number of its group cannot be given to another one.
      if (leader != leaders_.end() && !servers_[leader->second].keep) ::kill(-info.si_pid, SIGKILL);
      int status = 0;
      if (::waitpid(info.si_pid, &status, 0) != info.si_pid || leader == leaders_.end()) continue;
      server_ended = true;
      const auto number = leader->second;
      const server& s = servers_[number];
      if (!s.keep) ended_.insert(s.mark);
      servers_.erase(number);
      leaders_.erase(leader);
      control_.send(keeper_protocol::encode(keeper_protocol::notice(keeper_protocol::exited{number, to_exit(status)})));
    }
  }

  // Ends the processes that ended servers have left (G21). They carry the mark, wherever they are.
  void sweep() {
    ++sweeps_;
    const auto left = process::doomed_below(
        ::getpid(), ::getpid(), process::fate::none, [&](pid_t, const process::server_mark& mark) {
          return !mark.keep && ended_.contains(mark.server) ? process::fate::end : process::fate::none;
        });
    // Two clean looks are needed: a process that forked during the first may have been missed.
    clean_looks_ = process::kill_living(left) == 0 ? clean_looks_ + 1 : 0;
    if (clean_looks_ < 2) return;
    ended_.clear();
    sweeps_ = clean_looks_ = 0;
  }

  int control_fd_, deaths_fd_;
  keeper_options options_;
  control_channel control_;
  std::map<keeper_protocol::server_number, start> starting_;
  std::vector<pid_t> stuck_;  // look-ups that took too long and may not have ended yet
  std::unordered_map<keeper_protocol::server_number, server> servers_;
  std::unordered_map<pid_t, keeper_protocol::server_number> leaders_;
  std::unordered_set<std::uint32_t> ended_;  // marks whose trees are being ended
  int sweeps_ = 0, clean_looks_ = 0;
};

// Becomes the keeper and never returns.
[[noreturn]] void run_keeper(int control_fd, const keeper_options& options) {
  // A session of its own keeps the keeper away from signals that a terminal sends to the daemon's group.
  ::setsid();
  // The environments of all tool servers pass through this process.
  process::forbid_core_files();
  ::prctl(PR_SET_CHILD_SUBREAPER, 1);
  ::prctl(PR_SET_NAME, "mcpbx-keeper");
  for (int number : {SIGPIPE, SIGINT, SIGTERM, SIGHUP, SIGQUIT, SIGUSR1, SIGUSR2, SIGTSTP, SIGTTIN, SIGTTOU, SIGALRM})
    ::signal(number, SIG_IGN);
  ::signal(SIGCHLD, SIG_DFL);
  sigset_t deaths;
  sigemptyset(&deaths);
  sigaddset(&deaths, SIGCHLD);
  ::sigprocmask(SIG_SETMASK, &deaths, nullptr);

  // Of the daemon's descriptors, only the control socket and stderr stay.
  control_fd = ::fcntl(control_fd, F_DUPFD_CLOEXEC, control_at);
  const int null = ::open("/dev/null", O_RDWR | O_CLOEXEC);
  ::dup2(null, STDIN_FILENO);
  ::dup2(null, STDOUT_FILENO);
  if (::fcntl(STDERR_FILENO, F_GETFD) < 0) ::dup2(null, STDERR_FILENO);
  if (control_fd != control_at) ::dup3(control_fd, control_at, O_CLOEXEC);
  ::close_range(control_at + 1, ~0U, 0);
  if (::chdir("/") != 0) ::_exit(1);

  if (rlimit files{}; options.server_descriptors && ::getrlimit(RLIMIT_NOFILE, &files) == 0) {
    files.rlim_cur = std::min(*options.server_descriptors, files.rlim_max);
    ::setrlimit(RLIMIT_NOFILE, &files);
  }

  const int deaths_fd = ::signalfd(-1, &deaths, SFD_CLOEXEC | SFD_NONBLOCK);
  try {
    keeper_loop loop(control_at, deaths_fd, options);
    forget_program_pages();  // the keeper needs almost none of the pages that the daemon's start touched
    if (deaths_fd >= 0) loop.run();
    loop.end_all();
  } catch (...) {
    // Out of memory: the death signals and the daemon's sweep end the rest.
  }
  ::_exit(0);
}

}  // namespace

result<keeper_handle> fork_keeper(keeper_options options) {
  if (rlimit now{}; !options.server_descriptors && ::getrlimit(RLIMIT_NOFILE, &now) == 0)
    options.server_descriptors = now.rlim_cur;
  ::signal(SIGPIPE, SIG_IGN);
  ::signal(SIGCHLD, SIG_DFL);
  ::prctl(PR_SET_CHILD_SUBREAPER, 1);
  std::array<int, 2> ends{};
  if (::socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0, ends.data()) != 0)
    return fail(errc::io, std::string("no socket for the keeper: ") + std::strerror(errno));
  // No signal handler of ours may run in the child before it has set its own dispositions.
  sigset_t all, before;
  sigfillset(&all);
  ::pthread_sigmask(SIG_SETMASK, &all, &before);
  const pid_t pid = ::fork();
  const int number = errno;
  if (pid == 0) run_keeper(ends[1], options);
  ::pthread_sigmask(SIG_SETMASK, &before, nullptr);
  ::close(ends[1]);
  if (pid < 0) {
    ::close(ends[0]);
    return fail(errc::io, std::string("cannot fork the keeper: ") + std::strerror(number));
  }
  return keeper_handle{pid, ends[0], options};
}

}  // namespace mcpbx::mcp::keepers

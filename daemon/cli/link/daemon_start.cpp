// Starts mcpbxd: detached for everybody, or private for one command.
#include "daemon/cli/link/daemon_start.hpp"

#include "conf/places.hpp"
#include "mcp/socket/unix_socket.hpp"
#include "mcp/support/text.hpp"

#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <chrono>
#include <cstdlib>
#include <filesystem>
#include <functional>
#include <utility>
#include <vector>

namespace mcpbx::cli::link {
namespace {

namespace fs = std::filesystem;
using steady = std::chrono::steady_clock;
constexpr std::chrono::seconds start_limit{15};              // longer than a daemon takes to stop
constexpr std::chrono::milliseconds start_again_after{100};  // while another daemon is starting or stopping

std::string own_folder() {
  std::error_code ignored;
  const fs::path self = fs::read_symlink("/proc/self/exe", ignored);
  return self.has_parent_path() ? self.parent_path().string() : std::string("/usr/bin");
}

// Makes a path absolute: a detached daemon runs in $HOME, where a relative path means something else.
std::string absolute_path(const std::string& path) {
  std::error_code wrong;
  const fs::path whole = path.empty() ? fs::path() : fs::absolute(path, wrong);
  return wrong ? path : whole.string();
}

// Starts mcpbxd with its output to `log_fd`. A detached daemon gets a session of its own and runs in $HOME; a private
// one dies with this process.
result<pid_t> spawn(const std::vector<std::string>& arguments, int log_fd, bool detached) {
  std::vector<std::string> words = arguments;
  words.insert(words.begin(), own_folder() + "/mcpbxd");
  std::vector<char*> argv;
  for (auto& w : words) argv.push_back(w.data());
  argv.push_back(nullptr);
  const pid_t parent = ::getpid();
  const pid_t pid = ::fork();
  if (pid < 0) return fail(errc::io, "cannot start mcpbxd: fork failed");
  if (pid > 0) return pid;
  if (detached) {
    ::setsid();
    const char* home = std::getenv("HOME");
    if (home == nullptr || ::chdir(home) != 0) (void)!::chdir("/");
  } else {
    ::setpgid(0, 0);  // Ctrl-C goes to the command only, which then ends the daemon
    ::prctl(PR_SET_PDEATHSIG, SIGTERM);
    if (::getppid() != parent) ::_exit(127);
  }
  const int null = ::open("/dev/null", O_RDWR);
  ::dup2(null, 0);
  ::dup2(null, 1);
  ::dup2(log_fd, 2);
  ::close_range(3, ~0U, 0);
  ::execv(argv[0], argv.data());
  ::_exit(127);
}

std::string read_from(int fd, off_t offset) {
  std::string out;
  std::array<char, 4096> buffer{};
  for (;;) {
    const ssize_t n = ::pread(fd, buffer.data(), buffer.size(), offset);
    if (n <= 0 || out.size() > 64u << 10) return out;
    out.append(buffer.data(), static_cast<std::size_t>(n));
    offset += n;
  }
}

std::string how_it_ended(int status) {
  return WIFSIGNALED(status) ? "it was killed by signal " + std::to_string(WTERMSIG(status))
                             : "without a word, with status " + std::to_string(WEXITSTATUS(status));
}

struct started {
  pid_t pid = -1;
  off_t log_start = 0;  // offset of the daemon's first words in the log
};

// Waits until the socket answers or the daemon has ended; its last words are then the error. If it ended because
// another daemon holds the place, goes on: that one answers soon, or it is stopping and `again` starts a new one.
result<int> wait_for_socket(const socket_choice& where, started daemon, int log_fd,
                            const std::function<result<started>()>& again = {}) {
  const auto deadline = steady::now() + start_limit;
  auto next_start = steady::time_point::max();
  for (;;) {
    auto fd = connect_to(where);
    if (fd) return fd;
    int status = 0;
    if (daemon.pid > 0 && ::waitpid(daemon.pid, &status, WNOHANG) == daemon.pid) {
      daemon.pid = -1;
      const bool configuration = WIFEXITED(status) && WEXITSTATUS(status) == 78;
      std::string words = read_from(log_fd, daemon.log_start);
      while (!words.empty() && words.back() == '\n') words.pop_back();
      if (configuration) return fail(errc::config, words);
      // Another daemon may have won the race for the socket; then it answers soon.
      auto other = connect_to(where);
      if (other) return other;
      if (WIFEXITED(status) && WEXITSTATUS(status) == 127)
        return fail(errc::unavailable, "mcpbxd could not be run from " + own_folder());
      if (!words.contains("already runs at") && !words.contains("already holds"))
        return fail(errc::unavailable,
                    "mcpbxd ended while starting: " + (words.empty() ? how_it_ended(status) : words));
      if (again) next_start = steady::now() + start_again_after;
    }
    if (steady::now() >= next_start) {
      next_start = steady::time_point::max();
      auto another = again();
      if (!another) return std::unexpected(another.error());
      daemon = *another;
    }
    if (steady::now() >= deadline) return fail(errc::unavailable, "mcpbxd did not open " + where.path + " within 15 s");
    ::poll(nullptr, 0, 2);
  }
}

result<connected> start_private(const place& p) {
  const char* tmp = std::getenv("TMPDIR");
  auto folder = mcp::socket::private_folder::make(tmp != nullptr && *tmp == '/' ? tmp : "/tmp");
  if (!folder) return std::unexpected(folder.error());
  const std::string socket = p.socket.empty() ? folder->socket() : p.socket;
  const int log = ::open(folder->log().c_str(), O_RDWR | O_CREAT | O_APPEND | O_CLOEXEC, 0600);
  std::vector<std::string> arguments{"--socket", socket, "--private-folder", folder->path()};
  if (!p.config.empty()) arguments.insert(arguments.end(), {"--config", p.config});
  auto pid = spawn(arguments, log, false);
  if (!pid) return std::unexpected(pid.error());
  private_daemon own(*pid, std::move(*folder));
  auto fd = wait_for_socket({socket, false}, {*pid, 0}, log);
  ::close(log);
  if (!fd) return std::unexpected(fd.error());
  return connected{daemon_connection(*fd), std::move(own), true};
}

result<connected> start_shared(const socket_choice& where, const place& p) {
  auto state = conf::state_directory(conf::environment_for_places());
  if (!state) return std::unexpected(state.error());
  const std::string folder = state->string();
  std::error_code wrong;
  fs::create_directories(folder, wrong);
  ::chmod(folder.c_str(), 0700);
  const std::string path = folder + "/mcpbxd.log";
  const int log = ::open(path.c_str(), O_RDWR | O_CREAT | O_APPEND | O_CLOEXEC | O_NOFOLLOW, 0600);
  if (log < 0) return fail(errc::io, "cannot write " + path);
  std::vector<std::string> arguments{"--idle-exit", "--log-file", path};
  const char* named = std::getenv("MCPBX_CONFIG");
  const std::string config = absolute_path(!p.config.empty() || named == nullptr ? p.config : named);
  if (!config.empty()) arguments.insert(arguments.end(), {"--config", config});
  const auto start = [&]() -> result<started> {
    const off_t log_start = ::lseek(log, 0, SEEK_END);
    auto pid = spawn(arguments, log, true);
    if (!pid) return std::unexpected(pid.error());
    return started{*pid, log_start};
  };
  const auto first = start();
  auto fd = first ? wait_for_socket(where, *first, log, start) : std::unexpected(first.error());
  ::close(log);
  if (!fd) return std::unexpected(fd.error());
  return connected{daemon_connection(*fd), {}, true};
}

}  // namespace

private_daemon::private_daemon(private_daemon&& other) noexcept
    : pid_(std::exchange(other.pid_, -1)), folder_(std::move(other.folder_)) {}

private_daemon& private_daemon::operator=(private_daemon&& other) noexcept {
  std::swap(pid_, other.pid_);
  std::swap(folder_, other.folder_);
  return *this;
}

private_daemon::~private_daemon() {
  if (pid_ <= 0) return;
  ::kill(pid_, SIGTERM);
  const auto deadline = steady::now() + std::chrono::seconds(12);  // the daemon's own stop takes 10 s at most
  while (::waitpid(pid_, nullptr, WNOHANG) == 0) {
    if (steady::now() >= deadline) {
      ::kill(pid_, SIGKILL);
      ::waitpid(pid_, nullptr, 0);
      break;
    }
    ::poll(nullptr, 0, 2);
  }
}

result<socket_choice> choose_socket(const place& p) {
  const auto environment = conf::environment_for_places();
  auto path = conf::socket_path(environment, p.socket);
  if (!path) return std::unexpected(path.error());
  return socket_choice{path->string(), conf::default_socket(environment, p.socket)};
}

result<int> connect_to(const socket_choice& where) {
  auto fd = mcp::socket::connect_unix(where.path);
  if (fd || !where.is_default) return fd;
  for (const auto& link : conf::running_links(conf::environment_for_places()))
    if (const auto other = mcp::socket::connect_link(link.string())) return other->fd;
  return fd;
}

result<connected> connect(const place& p, bool may_start) {
  if (p.standalone) return start_private(p);
  auto where = choose_socket(p);
  if (!where) return std::unexpected(where.error());
  auto fd = connect_to(*where);
  if (fd) {
    daemon_connection link(*fd);
    if (p.config.empty()) return connected{std::move(link), {}};
    return fail(errc::config, "a daemon that answers at " + where->path +
                                  " has its configuration already; with --config use --standalone too, or `mcpbx stop` "
                                  "first");
  }
  if (!where->is_default || !may_start) {
    std::string text = "no daemon answers at " + where->path;
    text += where->is_default ? "; start one with `mcpbxd`, or let `mcpbx tools` start it"
                              : "; start one with `mcpbxd --socket " + shell_word(where->path) + "`";
    return fail(errc::unavailable, text);
  }
  return start_shared(*where, p);
}

}  // namespace mcpbx::cli::link

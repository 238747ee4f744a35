// Reading of files and running of commands, bounded in time and size.
#include "daemon/app/references/system_references.hpp"

#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <spawn.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <chrono>
#include <cstdlib>
#include <cstring>

namespace mcpbx::daemon::references {
namespace {

constexpr std::size_t max_bytes = 1u << 20;
constexpr std::chrono::seconds command_limit{5};

// Reads to the end, or to an error after max_bytes or at `deadline`.
result<std::string> read_all(int fd, std::chrono::steady_clock::time_point deadline, const std::string& what) {
  std::string out;
  char buffer[8192];
  for (;;) {
    const auto left =
        std::chrono::duration_cast<std::chrono::milliseconds>(deadline - std::chrono::steady_clock::now());
    if (left.count() <= 0) return fail(errc::timed_out, what + " did not end within 5 s");
    pollfd ready{fd, POLLIN, 0};
    if (::poll(&ready, 1, static_cast<int>(left.count())) <= 0) continue;
    const ssize_t n = ::read(fd, buffer, sizeof buffer);
    if (n < 0 && errno == EINTR) continue;
    if (n < 0) return fail(errc::io, what + " could not be read: " + std::strerror(errno));
    if (n == 0) return out;
    out.append(buffer, static_cast<std::size_t>(n));
    if (out.size() > max_bytes) return fail(errc::limit, what + " gave more than 1 MiB");
  }
}

// Waits for a child until `deadline`. Returns nullopt if it still runs then.
std::optional<int> wait_until(pid_t pid, std::chrono::steady_clock::time_point deadline) {
  for (;;) {
    int status = 0;
    const pid_t got = ::waitpid(pid, &status, WNOHANG);
    if (got == pid) return status;
    if (got < 0 && errno != EINTR) return std::nullopt;
    if (std::chrono::steady_clock::now() >= deadline) return std::nullopt;
    ::poll(nullptr, 0, 2);
  }
}

}  // namespace

std::optional<std::string> system_references::env(std::string_view name) {
  const char* value = std::getenv(std::string(name).c_str());
  if (value == nullptr) return std::nullopt;
  return value;
}

result<std::string> system_references::file(const std::string& path) {
  // O_NONBLOCK, because a FIFO without a writer must not block the lane.
  const int fd = ::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK);
  if (fd < 0)
    return fail(errno == ENOENT ? errc::not_found : errc::io, "cannot read " + path + ": " + std::strerror(errno));
  struct stat info{};
  if (::fstat(fd, &info) != 0 || !S_ISREG(info.st_mode)) {
    ::close(fd);
    return fail(errc::io, "cannot read " + path + ": it is no regular file");
  }
  auto text = read_all(fd, std::chrono::steady_clock::now() + command_limit, path);
  ::close(fd);
  return text;
}

result<std::string> system_references::command(const std::vector<std::string>& words) {
  const std::string what = "the command `" + words[0] + "`";
  int out[2];
  if (::pipe2(out, O_CLOEXEC) != 0) return fail(errc::io, what + " could not be started: " + std::strerror(errno));
  std::vector<char*> argv;
  for (const auto& word : words) argv.push_back(const_cast<char*>(word.c_str()));
  argv.push_back(nullptr);

  posix_spawn_file_actions_t actions;
  posix_spawn_file_actions_init(&actions);
  posix_spawn_file_actions_addopen(&actions, 0, "/dev/null", O_RDONLY, 0);
  posix_spawn_file_actions_adddup2(&actions, out[1], 1);
  posix_spawn_file_actions_addopen(&actions, 2, "/dev/null", O_WRONLY, 0);
  posix_spawn_file_actions_addclosefrom_np(&actions, 3);
  posix_spawnattr_t attributes;
  posix_spawnattr_init(&attributes);
  sigset_t none, standard;
  sigemptyset(&none);
  sigemptyset(&standard);
  for (const int number : {SIGPIPE, SIGXFSZ}) sigaddset(&standard, number);
  posix_spawnattr_setsigmask(&attributes, &none);
  posix_spawnattr_setsigdefault(&attributes, &standard);
  posix_spawnattr_setpgroup(&attributes, 0);
  posix_spawnattr_setflags(&attributes, POSIX_SPAWN_SETSIGMASK | POSIX_SPAWN_SETSIGDEF | POSIX_SPAWN_SETPGROUP);
  pid_t pid = -1;
  const int wrong = ::posix_spawnp(&pid, argv[0], &actions, &attributes, argv.data(), environ);
  posix_spawn_file_actions_destroy(&actions);
  posix_spawnattr_destroy(&attributes);
  ::close(out[1]);
  if (wrong != 0) {
    ::close(out[0]);
    return fail(errc::config, what + " could not be started: " + std::strerror(wrong));
  }

  const auto deadline = std::chrono::steady_clock::now() + command_limit;
  auto text = read_all(out[0], deadline, what);
  ::close(out[0]);
  std::optional<int> status;
  if (text) status = wait_until(pid, deadline);
  if (!status) {
    ::kill(-pid, SIGKILL);
    ::waitpid(pid, nullptr, 0);
    if (!text) return text;
    return fail(errc::timed_out, what + " did not end within 5 s");
  }
  if (!WIFEXITED(*status) || WEXITSTATUS(*status) != 0)
    return fail(errc::config,
                what + (WIFEXITED(*status) ? " ended with status " + std::to_string(WEXITSTATUS(*status))
                                           : " was ended by signal " + std::to_string(WTERMSIG(*status))));
  return text;
}

}  // namespace mcpbx::daemon::references

// Children that write their answers to a pipe, each behind its length.
#include "daemon/cli/doctor/in_time.hpp"

#include "mcp/process/unique_fd.hpp"

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
#include <exception>
#include <string_view>

namespace mcpbx::cli::doctor {
namespace {

using clock = std::chrono::steady_clock;
using std::chrono::milliseconds;
constexpr std::size_t most_bytes = 1u << 20;

void write_whole(int fd, std::string_view bytes) {
  while (!bytes.empty()) {
    const auto n = ::write(fd, bytes.data(), bytes.size());
    if (n < 0 && errno == EINTR) continue;
    if (n <= 0) ::_exit(1);
    bytes.remove_prefix(static_cast<std::size_t>(n));
  }
}

// Appends what a descriptor has until `deadline`. Returns false at its end, at a fault, and when the time is over.
bool read_some(int fd, std::string& into, clock::time_point deadline) {
  for (;;) {
    const auto left = std::chrono::ceil<milliseconds>(deadline - clock::now()).count();
    if (left <= 0) return false;
    pollfd one{fd, POLLIN, 0};
    const int ready = ::poll(&one, 1, static_cast<int>(left));
    if (ready < 0 && errno == EINTR) continue;
    if (ready <= 0) return false;
    std::array<char, 16384> block;
    const auto n = ::read(fd, block.data(), block.size());
    if (n < 0 && errno == EINTR) continue;
    if (n <= 0) return false;
    into.append(block.data(), static_cast<std::size_t>(n));
    return true;
  }
}

// A child that computes the checks from number `first` on.
class check_process {
 public:
  check_process(std::size_t first, std::size_t count, const std::function<std::string(std::size_t)>& check) {
    int ends[2];
    if (::pipe2(ends, O_CLOEXEC) != 0) return;
    output_ = mcp::unique_fd(ends[0]);
    const mcp::unique_fd input(ends[1]);
    const pid_t parent = ::getpid();
    pid_ = ::fork();
    if (pid_ != 0) return;
    ::prctl(PR_SET_PDEATHSIG, SIGKILL);
    if (::getppid() != parent) ::_exit(1);
    ::signal(SIGPIPE, SIG_DFL);
    ::signal(SIGINT, SIG_DFL);
    ::signal(SIGTERM, SIG_DFL);
    // A check that hangs stays behind, and must not hold a connection open.
    if (input.get() > 3) ::close_range(3, static_cast<unsigned>(input.get()) - 1, 0);
    ::close_range(static_cast<unsigned>(input.get()) + 1, ~0U, 0);
    try {
      for (std::size_t i = first; i < count; ++i) {
        const std::string text = check(i);
        const auto size = static_cast<std::uint32_t>(text.size());
        write_whole(input.get(), {reinterpret_cast<const char*>(&size), sizeof size});
        write_whole(input.get(), text);
      }
    } catch (const std::exception&) {
      ::_exit(1);
    }
    ::_exit(0);
  }
  check_process(const check_process&) = delete;
  check_process& operator=(const check_process&) = delete;
  ~check_process() {
    if (pid_ <= 0) return;
    ::kill(pid_, SIGKILL);
    // A process that waits for a dead mount cannot be killed: wait a moment only, and leave it to init.
    for (int i = 0; i < 20 && ::waitpid(pid_, nullptr, WNOHANG) == 0; ++i) ::poll(nullptr, 0, 1);
  }

  // Returns the next answer; nullopt: none came by then.
  std::optional<std::string> next(clock::time_point deadline) {
    for (;;) {
      std::uint32_t size = 0;
      if (received_.size() >= sizeof size) {
        std::memcpy(&size, received_.data(), sizeof size);
        if (size > most_bytes) return std::nullopt;
        if (received_.size() >= sizeof size + size) {
          auto text = received_.substr(sizeof size, size);
          received_.erase(0, sizeof size + size);
          return text;
        }
      }
      if (pid_ <= 0 || !read_some(output_.get(), received_, deadline)) return std::nullopt;
    }
  }

 private:
  pid_t pid_ = -1;
  mcp::unique_fd output_;
  std::string received_;
};

}  // namespace

std::vector<std::optional<std::string>> in_time(std::size_t count, const std::function<std::string(std::size_t)>& check,
                                                const time_bounds& bounds) {
  std::vector<std::optional<std::string>> answers(count);
  const auto end = clock::now() + bounds.all;
  for (std::size_t i = 0; i < count && clock::now() < end;) {
    check_process child(i, count, check);
    for (; i < count; ++i) {
      answers[i] = child.next(std::min(end, clock::now() + bounds.each));
      if (!answers[i]) break;
    }
    ++i;  // the one that hangs is not tried again
  }
  return answers;
}

std::optional<std::string> output_of(const std::vector<std::string>& words, milliseconds at_most) {
  int ends[2];
  if (words.empty() || ::pipe2(ends, O_CLOEXEC) != 0) return std::nullopt;
  const mcp::unique_fd output(ends[0]);
  mcp::unique_fd input(ends[1]);
  std::vector<char*> argv;
  for (const auto& w : words) argv.push_back(const_cast<char*>(w.c_str()));
  argv.push_back(nullptr);
  const pid_t parent = ::getpid();
  const pid_t pid = ::fork();
  if (pid < 0) return std::nullopt;
  if (pid == 0) {
    ::prctl(PR_SET_PDEATHSIG, SIGKILL);
    if (::getppid() != parent) ::_exit(127);
    ::signal(SIGPIPE, SIG_DFL);
    const int null = ::open("/dev/null", O_RDWR);
    ::dup2(null, 0);
    ::dup2(input.get(), 1);
    ::dup2(null, 2);
    ::close_range(3, ~0U, 0);
    ::execvp(argv[0], argv.data());
    ::_exit(127);
  }
  input = mcp::unique_fd();
  const auto deadline = clock::now() + at_most;
  std::string text;
  while (text.size() <= most_bytes && read_some(output.get(), text, deadline)) {
  }
  int status = 0;
  pid_t ended = 0;
  while ((ended = ::waitpid(pid, &status, WNOHANG)) == 0 && clock::now() < deadline) ::poll(nullptr, 0, 1);
  if (ended == pid && WIFEXITED(status) && WEXITSTATUS(status) == 0 && text.size() <= most_bytes) return text;
  if (ended == 0) {
    ::kill(pid, SIGKILL);
    for (int i = 0; i < 20 && ::waitpid(pid, nullptr, WNOHANG) == 0; ++i) ::poll(nullptr, 0, 1);
  }
  return std::nullopt;
}

}  // namespace mcpbx::cli::doctor

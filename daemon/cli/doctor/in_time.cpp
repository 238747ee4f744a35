// Children that answer at a socket, each question and each answer behind its length.
#include "daemon/cli/doctor/in_time.hpp"

#include "mcp/process/unique_fd.hpp"

#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <spawn.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstdint>
#include <cstring>
#include <exception>
#include <string_view>
#include <utility>

namespace mcpbx::cli::doctor {
namespace {

using clock = std::chrono::steady_clock;
using std::chrono::milliseconds;
constexpr std::size_t most_bytes = 1u << 20;

// Returns false if the other end is gone.
bool write_whole(int fd, std::string_view bytes) {
  while (!bytes.empty()) {
    const auto n = ::send(fd, bytes.data(), bytes.size(), MSG_NOSIGNAL);
    if (n < 0 && errno == EINTR) continue;
    if (n <= 0) return false;
    bytes.remove_prefix(static_cast<std::size_t>(n));
  }
  return true;
}

// Returns false at the end of the stream.
bool read_whole(int fd, char* into, std::size_t size) {
  for (std::size_t at = 0; at < size;) {
    const auto n = ::read(fd, into + at, size - at);
    if (n < 0 && errno == EINTR) continue;
    if (n <= 0) return false;
    at += static_cast<std::size_t>(n);
  }
  return true;
}

std::string with_size(std::string_view text) {
  const auto size = static_cast<std::uint32_t>(text.size());
  return std::string(reinterpret_cast<const char*>(&size), sizeof size).append(text);
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

// The child: reads all questions of a batch before it answers the first, so that no two writers wait for each other.
[[noreturn]] void serve_batches(int fd, const checking_child::serve_function& serve) {
  try {
    for (std::uint32_t size = 0; read_whole(fd, reinterpret_cast<char*>(&size), sizeof size);) {
      std::string batch(size, '\0');
      if (!read_whole(fd, batch.data(), batch.size())) break;
      for (std::size_t at = 0; at + sizeof size <= batch.size();) {
        std::memcpy(&size, batch.data() + at, sizeof size);
        at += sizeof size;
        if (!write_whole(fd, with_size(serve(std::string_view(batch).substr(at, size))))) ::_exit(1);
        at += size;
      }
    }
  } catch (const std::exception&) {
    ::_exit(1);
  }
  ::_exit(0);
}

}  // namespace

class checking_child::process {
 public:
  explicit process(const serve_function& serve) {
    int ends[2];
    if (::socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends) != 0) return;
    link_ = mcp::process::unique_fd(ends[0]);
    const mcp::process::unique_fd its(ends[1]);
    const pid_t parent = ::getpid();
    pid_ = ::fork();
    if (pid_ != 0) return;
    ::prctl(PR_SET_PDEATHSIG, SIGKILL);
    if (::getppid() != parent) ::_exit(1);
    ::signal(SIGINT, SIG_DFL);
    ::signal(SIGTERM, SIG_DFL);
    // A check that hangs stays behind, and must not hold a connection open.
    if (its.get() > 3) ::close_range(3, static_cast<unsigned>(its.get()) - 1, 0);
    ::close_range(static_cast<unsigned>(its.get()) + 1, ~0U, 0);
    serve_batches(its.get(), serve);
  }
  process(const process&) = delete;
  process& operator=(const process&) = delete;
  ~process() {
    if (pid_ <= 0) return;
    ::kill(pid_, SIGKILL);
    // A process that waits for a dead mount cannot be killed: wait a moment only, and leave it to init.
    for (int i = 0; i < 20 && ::waitpid(pid_, nullptr, WNOHANG) == 0; ++i) ::poll(nullptr, 0, 1);
  }

  bool ask(std::string_view batch) { return pid_ > 0 && write_whole(link_.get(), with_size(batch)); }

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
      if (pid_ <= 0 || !read_some(link_.get(), received_, deadline)) return std::nullopt;
    }
  }

 private:
  pid_t pid_ = -1;
  mcp::process::unique_fd link_;
  std::string received_;
};

checking_child::checking_child(serve_function serve, const time_bounds& bounds)
    : serve_(std::move(serve)), bounds_(bounds) {}

checking_child::~checking_child() = default;

std::vector<std::optional<std::string>> checking_child::ask(const std::vector<std::string>& questions) {
  std::vector<std::optional<std::string>> answers(questions.size());
  const auto end = clock::now() + bounds_.all;
  for (std::size_t i = 0; i < questions.size() && clock::now() < end; ++i) {
    std::string batch;
    for (std::size_t j = i; j < questions.size(); ++j) batch += with_size(questions[j]);
    bool answered = process_ && process_->ask(batch);
    if (!answered) {
      process_ = std::make_unique<process>(serve_);
      answered = process_->ask(batch);
    }
    for (; answered && i < questions.size(); i += answered ? 1 : 0) {
      answers[i] = process_->next(std::min(end, clock::now() + bounds_.each));
      answered = answers[i].has_value();
    }
    if (!answered) process_.reset();  // the question that hangs is not asked again
  }
  return answers;
}

void check_list::add(std::function<std::string()> check, std::function<void(std::optional<std::string>)> then) {
  items_.push_back({std::move(check), std::move(then)});
}

void check_list::run(const time_bounds& bounds) {
  checking_child child([this](std::string_view number) { return items_[std::stoul(std::string(number))].check(); },
                       bounds);
  std::vector<std::string> numbers;
  for (std::size_t i = 0; i < items_.size(); ++i) numbers.push_back(std::to_string(i));
  auto answers = child.ask(numbers);
  for (std::size_t i = 0; i < items_.size(); ++i) items_[i].then(std::move(answers[i]));
}

namespace {

// Starts a program without input, whose output goes to `output`. Returns -1 if it cannot be started. Unlike fork(),
// this copies no page tables. The programs end by themselves within seconds, also where this process is killed.
pid_t started(const std::vector<std::string>& words, int output) {
  std::vector<char*> argv;
  for (const auto& w : words) argv.push_back(const_cast<char*>(w.c_str()));
  argv.push_back(nullptr);
  posix_spawn_file_actions_t files;
  posix_spawnattr_t how;
  posix_spawn_file_actions_init(&files);
  posix_spawnattr_init(&how);
  posix_spawn_file_actions_adddup2(&files, output, 1);  // first, since it may be 0 or 2
  posix_spawn_file_actions_addopen(&files, 0, "/dev/null", O_RDONLY, 0);
  posix_spawn_file_actions_addopen(&files, 2, "/dev/null", O_WRONLY, 0);
  posix_spawn_file_actions_addclosefrom_np(&files, 3);
  sigset_t usual;
  ::sigemptyset(&usual);
  ::sigaddset(&usual, SIGPIPE);
  posix_spawnattr_setsigdefault(&how, &usual);
  posix_spawnattr_setflags(&how, POSIX_SPAWN_SETSIGDEF);
  pid_t pid = -1;
  const int failed = ::posix_spawnp(&pid, argv[0], &files, &how, argv.data(), environ);
  posix_spawn_file_actions_destroy(&files);
  posix_spawnattr_destroy(&how);
  return failed == 0 ? pid : -1;
}

}  // namespace

std::optional<std::string> output_of(const std::vector<std::string>& words, milliseconds at_most) {
  int ends[2];
  if (words.empty() || ::pipe2(ends, O_CLOEXEC) != 0) return std::nullopt;
  const mcp::process::unique_fd output(ends[0]);
  mcp::process::unique_fd input(ends[1]);
  const pid_t pid = started(words, input.get());
  if (pid < 0) return std::nullopt;
  input = mcp::process::unique_fd();
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

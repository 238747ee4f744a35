// fork, pipes, poll, /proc.
#include "test/e2e/harness/processes.hpp"

#include <doctest/doctest.h>

#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <cctype>
#include <cerrno>
#include <chrono>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <sstream>

namespace mcpbx::e2e {
namespace {

using steady = std::chrono::steady_clock;
namespace fs = std::filesystem;

constexpr int poll_ms = 5;

struct pipe_pair {
  int read = -1, write = -1;
  pipe_pair() {
    std::array<int, 2> fds{};
    REQUIRE(::pipe2(fds.data(), O_CLOEXEC) == 0);
    read = fds[0];
    write = fds[1];
  }
};

void close_fd(int& fd) {
  if (fd >= 0) ::close(fd);
  fd = -1;
}

std::vector<char*> pointers(std::vector<std::string>& words) {
  std::vector<char*> out;
  for (auto& w : words) out.push_back(w.data());
  out.push_back(nullptr);
  return out;
}

/// The state letter and the parent of a process; '?' when there is none.
std::pair<char, pid_t> state_of(pid_t pid) {
  const std::string stat = read_file("/proc/" + std::to_string(pid) + "/stat");
  const auto paren = stat.rfind(')');  // the name in front may hold anything
  if (paren == std::string::npos || paren + 4 > stat.size()) return {'?', -1};
  return {stat[paren + 2], static_cast<pid_t>(std::atoi(stat.c_str() + paren + 4))};
}

template <class Visit>
void each_process(Visit&& visit) {
  std::error_code ignored;
  for (const auto& entry : fs::directory_iterator("/proc", ignored)) {
    const std::string name = entry.path().filename();
    if (std::isdigit(static_cast<unsigned char>(name[0]))) visit(static_cast<pid_t>(std::atol(name.c_str())));
  }
}

}  // namespace

bool eventually(const std::function<bool()>& holds, int seconds) {
  const auto deadline = steady::now() + std::chrono::seconds(seconds);
  while (!holds()) {
    if (steady::now() >= deadline) return false;
    ::poll(nullptr, 0, poll_ms);
  }
  return true;
}

bool eventually(const std::function<bool()>& holds) {
  return eventually(holds, static_cast<int>(watchdog.count()));
}

child::child(const options& o) {
  ::signal(SIGPIPE, SIG_IGN);  // a program may end before it has read all of its input
  pipe_pair in, out_pipe, err_pipe;
  std::vector<std::string> argv = o.argv, env = o.env;
  const auto argv_pointers = pointers(argv), env_pointers = pointers(env);
  const pid_t parent = ::getpid();
  pid_ = ::fork();
  REQUIRE(pid_ >= 0);
  if (pid_ == 0) {
    // The test program may be ended by its watchdog: nothing of it stays.
    ::prctl(PR_SET_PDEATHSIG, SIGKILL);
    if (::getppid() != parent || ::chdir(o.cwd.c_str()) != 0) ::_exit(126);
    ::dup2(in.read, 0);
    ::dup2(out_pipe.write, 1);
    int errors = err_pipe.write;
    if (!o.stderr_file.empty()) errors = ::open(o.stderr_file.c_str(), O_WRONLY | O_CREAT | O_APPEND, 0600);
    ::dup2(errors, 2);
    ::close_range(3, ~0U, 0);
    ::signal(SIGPIPE, SIG_DFL);
    ::execve(argv_pointers[0], argv_pointers.data(), env_pointers.data());
    ::_exit(127);
  }
  ::close(in.read);
  ::close(out_pipe.write);
  ::close(err_pipe.write);
  in_ = in.write;
  out_ = out_pipe.read;
  err_ = err_pipe.read;
  for (const int fd : {in_, out_, err_}) ::fcntl(fd, F_SETFL, O_NONBLOCK);
}

child::~child() {
  if (!end_) {
    ::kill(pid_, SIGKILL);
    ::waitpid(pid_, nullptr, 0);
  }
  for (int* fd : {&in_, &out_, &err_}) close_fd(*fd);
}

// Moves bytes for `wait_ms` at most; false when there is nothing left to move.
bool child::pump(int wait_ms) {
  std::array<pollfd, 3> ready{pollfd{to_write_.empty() ? -1 : in_, POLLOUT, 0}, pollfd{out_, POLLIN, 0},
                              pollfd{err_, POLLIN, 0}};
  if (out_ < 0 && err_ < 0 && ready[0].fd < 0) return false;
  ::poll(ready.data(), ready.size(), wait_ms);
  if (ready[0].revents != 0) {
    const ssize_t n = ::write(in_, to_write_.data(), to_write_.size());
    if (n > 0) to_write_.erase(0, static_cast<std::size_t>(n));
    if (n < 0 && errno != EAGAIN && errno != EINTR) {
      to_write_.clear();
      close_fd(in_);
    }
  }
  const auto read_some = [](int& fd, short events, std::string& to) {
    if (fd < 0 || events == 0) return;
    static std::array<char, 65536> buffer;
    const ssize_t n = ::read(fd, buffer.data(), buffer.size());
    if (n > 0)
      to.append(buffer.data(), static_cast<std::size_t>(n));
    else if (n == 0 || (errno != EAGAIN && errno != EINTR))
      close_fd(fd);
  };
  read_some(out_, ready[1].revents, out);
  read_some(err_, ready[2].revents, err);
  return true;
}

void child::write(std::string_view bytes) {
  to_write_ += bytes;
  const auto deadline = steady::now() + watchdog;
  while (!to_write_.empty()) {
    REQUIRE(steady::now() < deadline);
    pump(100);
  }
}

void child::close_stdin() {
  close_fd(in_);
}

std::string child::read_line() {
  const auto deadline = steady::now() + watchdog;
  for (;;) {
    if (const auto end = out.find('\n'); end != std::string::npos) {
      std::string line = out.substr(0, end);
      out.erase(0, end + 1);
      return line;
    }
    if (out_ < 0 || steady::now() >= deadline) FAIL("no line from the program; stderr: ", err);
    pump(100);
  }
}

void child::signal(int number) const {
  if (!end_) ::kill(pid_, number);
}

std::optional<process_end> child::ended() {
  if (end_) return end_;
  int status = 0;
  if (::waitpid(pid_, &status, WNOHANG) != pid_) return {};
  end_ = WIFEXITED(status) ? process_end{WEXITSTATUS(status), 0} : process_end{-1, WTERMSIG(status)};
  return end_;
}

bool child::says(std::string_view words) {
  const auto deadline = steady::now() + std::chrono::seconds(30);
  while (!err.contains(words) && !ended() && steady::now() < deadline)
    if (!pump(poll_ms)) ::poll(nullptr, 0, poll_ms);
  return err.contains(words);
}

process_end child::wait(int seconds) {
  const auto deadline = steady::now() + std::chrono::seconds(seconds);
  while (!ended()) {
    if (steady::now() >= deadline) FAIL("a program did not end within ", seconds, " s; stderr: ", err);
    if (!pump(poll_ms)) ::poll(nullptr, 0, poll_ms);
  }
  // Reads the rest of the pipes, but not to their end, since a started process may hold them open.
  for (std::size_t before = ~std::size_t{0}; before != out.size() + err.size();) {
    before = out.size() + err.size();
    pump(0);
  }
  return *end_;
}

std::string read_file(const std::string& path) {
  // By hand: a stream throws when a process goes while its file in /proc is read.
  std::string text;
  const int fd = ::open(path.c_str(), O_RDONLY | O_CLOEXEC);
  if (fd < 0) return text;
  std::array<char, 65536> buffer{};
  for (ssize_t n = 0; (n = ::read(fd, buffer.data(), buffer.size())) > 0;)
    text.append(buffer.data(), static_cast<std::size_t>(n));
  ::close(fd);
  return text;
}

std::size_t count_of(std::string_view text, std::string_view word) {
  std::size_t n = 0;
  for (auto at = text.find(word); at != std::string_view::npos; at = text.find(word, at + word.size())) ++n;
  return n;
}

bool alive(pid_t pid) {
  const char state = state_of(pid).first;
  return state != '?' && state != 'Z' && state != 'X';
}

std::set<pid_t> processes_with(const std::string& word) {
  std::set<pid_t> found;
  const std::string argument = '\0' + word + '\0';
  each_process([&](pid_t pid) {
    // A zombie has no command line.
    const std::string line = '\0' + read_file("/proc/" + std::to_string(pid) + "/cmdline");
    if (line.find(argument) != std::string::npos && alive(pid)) found.insert(pid);
  });
  return found;
}

std::vector<pid_t> children_of(pid_t pid) {
  std::vector<pid_t> out;
  each_process([&](pid_t p) {
    if (state_of(p).second == pid) out.push_back(p);
  });
  return out;
}

std::size_t zombies_of(pid_t pid) {
  std::size_t count = 0;
  for (const pid_t c : children_of(pid)) count += state_of(c).first == 'Z' ? 1 : 0;
  return count;
}

std::size_t open_descriptors(pid_t pid) {
  std::error_code ignored;
  const fs::directory_iterator folder("/proc/" + std::to_string(pid) + "/fd", ignored);
  return static_cast<std::size_t>(std::distance(begin(folder), end(folder)));
}

void kill_all_with(const std::string& tag) {
  for (const pid_t pid : processes_with(tag)) ::kill(pid, SIGKILL);
}

std::size_t memory_kib(pid_t pid, std::string_view line) {
  std::istringstream status(read_file("/proc/" + std::to_string(pid) + "/status"));
  for (std::string text; std::getline(status, text);)
    if (text.starts_with(line)) return static_cast<std::size_t>(std::atoll(text.c_str() + line.size()));
  return 0;
}

void reset_peak(pid_t pid) {
  std::ofstream("/proc/" + std::to_string(pid) + "/clear_refs") << "5";
}

}  // namespace mcpbx::e2e

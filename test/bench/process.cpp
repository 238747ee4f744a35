// fork, exec and /proc.
#include "test/bench/process.hpp"

#include <fcntl.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <sstream>
#include <utility>

namespace mcpbx::bench {
namespace {

namespace fs = std::filesystem;

std::string read_all(const fs::path& path) {
  std::ifstream in(path);
  std::ostringstream out;
  out << in.rdbuf();
  return out.str();
}

double status_mib(const std::string& status, const char* key) {
  const auto at = status.find(key);
  return at == std::string::npos
             ? 0
             : std::strtod(status.c_str() + at + std::char_traits<char>::length(key), nullptr) / 1024;
}

// Calls f(folder in /proc) for a process and everything below it that is no tool server.
template <class F>
void walk(pid_t pid, F&& f) {
  const fs::path folder = "/proc/" + std::to_string(pid);
  if (read_all(folder / "comm") != "bench_echo\n") f(folder);
  std::error_code gone;
  for (const auto& task : fs::directory_iterator(folder / "task", gone)) {
    std::istringstream children(read_all(task.path() / "children"));
    for (pid_t child = 0; children >> child;) walk(child, f);
  }
}

}  // namespace

process::process(const std::vector<std::string>& argv, io how) {
  int in[2] = {-1, -1}, out[2] = {-1, -1};
  if ((how == io::pipes && ::pipe2(in, O_CLOEXEC) != 0) || (how != io::none && ::pipe2(out, O_CLOEXEC) != 0))
    give_up("no pipe can be made");
  std::vector<char*> words;
  for (const auto& word : argv) words.push_back(const_cast<char*>(word.c_str()));
  words.push_back(nullptr);
  pid_ = ::fork();
  if (pid_ < 0) give_up("cannot fork");
  if (pid_ == 0) {
    ::prctl(PR_SET_PDEATHSIG, SIGKILL);
    const int nothing = ::open("/dev/null", O_RDWR);
    ::dup2(in[0] < 0 ? nothing : in[0], 0);
    ::dup2(out[1] < 0 ? nothing : out[1], 1);
    if (std::getenv("BENCH_STDERR") == nullptr) ::dup2(nothing, 2);
    ::execv(words[0], words.data());
    ::_exit(127);
  }
  in_ = in[1];
  out_ = out[0];
  if (in[0] >= 0) ::close(in[0]);
  if (out[1] >= 0) ::close(out[1]);
}

process::process(process&& other) noexcept
    : pid_(std::exchange(other.pid_, -1)), in_(std::exchange(other.in_, -1)), out_(std::exchange(other.out_, -1)) {}

process::~process() {
  for (const int fd : {in_, out_})
    if (fd >= 0) ::close(fd);
  if (pid_ <= 0) return;
  ::kill(pid_, SIGTERM);
  const double limit = now_us() + 10e6;
  while (::waitpid(pid_, nullptr, WNOHANG) == 0) {
    if (now_us() > limit) {
      ::kill(pid_, SIGKILL);
      ::waitpid(pid_, nullptr, 0);
      break;
    }
    ::usleep(1000);
  }
}

int process::take_in() {
  return std::exchange(in_, -1);
}

int process::take_out() {
  return std::exchange(out_, -1);
}

weight process::weigh() const {
  weight w;
  walk(pid_, [&](const fs::path& folder) {
    const auto status = read_all(folder / "status");
    w.resident_mib += status_mib(status, "VmRSS:");
    w.peak_mib += status_mib(status, "VmHWM:");
    std::error_code gone;
    for (const auto& task : fs::directory_iterator(folder / "task", gone))
      w.cpu_ns += std::strtoull(read_all(task.path() / "schedstat").c_str(), nullptr, 10);
  });
  return w;
}

void process::reset_peak() const {
  walk(pid_, [](const fs::path& folder) { std::ofstream(folder / "clear_refs") << "5"; });
}

double process::finish() {
  int status = 0;
  rusage used{};
  if (::wait4(std::exchange(pid_, -1), &status, 0, &used) < 0 || !WIFEXITED(status) || WEXITSTATUS(status) != 0)
    return -1;
  const auto ms = [](const timeval& t) {
    return static_cast<double>(t.tv_sec) * 1e3 + static_cast<double>(t.tv_usec) / 1e3;
  };
  return ms(used.ru_utime) + ms(used.ru_stime);
}

scratch_folder::scratch_folder() : path_("/tmp/mcpbx-bench-XXXXXX") {
  if (::mkdtemp(path_.data()) == nullptr) give_up("cannot make a folder below /tmp");
}

scratch_folder::~scratch_folder() {
  std::error_code ignored;
  fs::remove_all(path_, ignored);
}

double now_us() {
  return std::chrono::duration<double, std::micro>(std::chrono::steady_clock::now().time_since_epoch()).count();
}

void give_up(const std::string& why) {
  std::fprintf(stderr, "mcpbx_bench: %s\n", why.c_str());
  ::_exit(1);  // children end with us: PR_SET_PDEATHSIG
}

void write_file(const std::string& path, const std::string& text) {
  std::ofstream(path) << text;
  ::chmod(path.c_str(), 0600);
}

}  // namespace mcpbx::bench

// Real child processes for tests: the events of a server, the sleepers that are left, the descriptors that a process
// holds open. Polling has a watchdog (run_until); nothing here sleeps for a fixed time.
#pragma once
#include "mcp/process/keeper/keeper.hpp"
#include "mcp/process/process_tree.hpp"
#include "test/mcp/async/pump.hpp"
#include "test/support/manual_time.hpp"
#include "test/support/transport_recorder.hpp"

#include <boost/asio/io_context.hpp>

#include <fcntl.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <cctype>
#include <filesystem>
#include <iterator>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

namespace mcpbx::test {

/// One server: launches it, starts its connection and notes everything.
class server_recorder final : public mcp::process::process_events {
 public:
  pid_t pid = -1;
  std::unique_ptr<mcp::transports::transport> connection;
  recorder seen;
  std::string errors;
  std::optional<error> failed;
  std::optional<mcp::process::process_exit> exit;
  int endings = 0;
  std::size_t messages_at_exit = 0;
  std::function<void()> on_end;
  std::unique_ptr<mcp::process::server_process> process;

  void on_spawned(pid_t p, std::unique_ptr<mcp::transports::transport> c) override {
    pid = p;
    connection = std::move(c);
    connection->start(seen);
  }
  void on_spawn_failed(const error& why) override {
    failed = why;
    ended();
  }
  void on_stderr(std::string_view bytes) override { errors += bytes; }
  void on_exited(mcp::process::process_exit how) override {
    exit = how;
    messages_at_exit = seen.messages.size();
    ended();
  }

 private:
  void ended() {
    ++endings;
    if (on_end) on_end();
  }
};

/// A keeper with its loop and a clock that stands still until it is turned. The processes of a test end with it.
struct keeper_fixture {
  boost::asio::io_context io{1};
  manual_time time;
  int lost = 0;
  std::unique_ptr<mcp::keepers::keeper> keeper;

  explicit keeper_fixture(const mcp::keepers::keeper_options& options = {}) {
    // Children that a killed keeper had just forked have no mark yet and become children of this process, as the
    // daemon's stray_reaper expects. They end by themselves; these tests count zombies, so none may be left over.
    run_until(io, [] { return ::waitpid(-1, nullptr, WNOHANG) < 0; });
    auto handle = mcp::keepers::fork_keeper(options);
    REQUIRE(handle);
    keeper = std::make_unique<mcp::keepers::keeper>(io.get_executor(), time, *handle, mcp::rpc::line_framer::options{},
                                                    [this] { ++lost; });
  }
  void launch(server_recorder& s, std::vector<std::string> argv, bool keep_orphans = false) {
    launch_spec(s, {"test", std::move(argv), {"PATH=/usr/bin:/bin"}, "/", keep_orphans});
  }
  void launch_spec(server_recorder& s, mcp::process::process_spec spec) {
    s.process = keeper->launch(std::move(spec), s);
  }
  void launch_shell(server_recorder& s, std::string script, bool keep_orphans = false) {
    launch(s, {"sh", "-c", std::move(script)}, keep_orphans);
  }
  template <class Condition>
  void until(Condition&& c) {
    run_until(io, std::forward<Condition>(c));
  }
  /// Runs until a condition holds, for steps of our end of the keeper: the clock goes on while nothing else happens.
  template <class Condition>
  void until_turning(milliseconds step, Condition&& c) {
    run_until(io, [&] {
      if (c()) return true;
      io.restart();
      if (io.poll() == 0) time.advance(step);
      return c();
    });
  }
};

/// Returns the text of a file of /proc, or "" if its process is gone, which may happen at any moment.
inline std::string read_file(const std::string& path) {
  std::string text;
  const int fd = ::open(path.c_str(), O_RDONLY | O_CLOEXEC);
  if (fd < 0) return text;
  std::array<char, 4096> part;
  for (ssize_t n = 0; (n = ::read(fd, part.data(), part.size())) > 0;)
    text.append(part.data(), static_cast<std::size_t>(n));
  ::close(fd);
  return text;
}

/// Returns living processes that are exactly `sleep WORD`. Processes that are about to become it are missing: during
/// exec the command line is empty for a moment.
inline std::vector<pid_t> sleeping(const std::string& word) {
  const std::string tail = std::string("sleep") + '\0' + word + '\0';
  std::vector<pid_t> found;
  for (const auto& entry : std::filesystem::directory_iterator("/proc")) {
    const std::string name = entry.path().filename();
    if (!std::isdigit(static_cast<unsigned char>(name[0]))) continue;
    const std::string line = read_file("/proc/" + name + "/cmdline");
    const auto pid = static_cast<pid_t>(std::stol(name));
    if (line.ends_with(tail) && line.find('\0') == line.size() - word.size() - 2 && !mcp::process::has_ended(pid))
      found.push_back(pid);
  }
  return found;
}

/// Returns a word that no other process has: an argument for `sleep` that stands for "very long".
inline std::string unique_sleep() {
  static int count = 0;
  return std::to_string(100'000 + ++count) + "." + std::to_string(::getpid());
}

inline std::size_t open_descriptors(pid_t pid) {
  std::error_code gone;
  const std::filesystem::directory_iterator d("/proc/" + std::to_string(pid) + "/fd", gone);
  return static_cast<std::size_t>(std::distance(begin(d), end(d)));
}

inline bool exists(pid_t pid) {
  return ::kill(pid, 0) == 0;
}

inline std::size_t zombies_below(pid_t root) {
  std::size_t count = 0;
  for (const auto& node : mcp::process::processes_below(root))
    count += exists(node.pid) && mcp::process::has_ended(node.pid);
  return count;
}

}  // namespace mcpbx::test

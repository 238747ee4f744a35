// Child processes and what /proc tells about them, for tests of whole programs. Nothing sleeps for a fixed time: every
// wait looks every few milliseconds and ends with a watchdog that no healthy run comes near.
#pragma once
#include "test/support/contains.hpp"
#include "test/support/sanitized.hpp"

#include <sys/types.h>

#include <chrono>
#include <cstddef>
#include <functional>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <vector>

namespace mcpbx::e2e {

using test::contains;
using test::sanitized;

/// Ends what hangs, under sanitizers on a machine with other work as well.
inline constexpr std::chrono::seconds watchdog{120};

/// Looks every 5 ms until `holds` does; false after the watchdog.
bool eventually(const std::function<bool()>& holds);
/// The same with another watchdog, in seconds.
bool eventually(const std::function<bool()>& holds, int seconds);

/// Exit of a process.
struct process_end {
  int status = -1;  ///< exit status; -1 when a signal ended it
  int signal = 0;
};

/// A program with pipes at its three streams. Killed and reaped by the destructor.
class child {
 public:
  struct options {
    std::vector<std::string> argv;
    std::vector<std::string> env{};  ///< all of it, as NAME=value
    std::string cwd = "/";
    std::string stderr_file{};  ///< appended to; empty: a pipe
  };
  explicit child(const options& o);
  ~child();
  child(const child&) = delete;
  child& operator=(const child&) = delete;

  pid_t pid() const noexcept { return pid_; }
  /// To its stdin, all of it; what it prints meanwhile is kept.
  void write(std::string_view bytes);
  void close_stdin();
  /// The next line it prints, without its end; fails the test after 30 s or when stdout ends.
  std::string read_line();
  void signal(int number) const;
  /// Its end; fails the test after `seconds`.
  process_end wait(int seconds = 60);
  /// Waits until it has said `words` on stderr; false: it ended or 30 s went by without them.
  bool says(std::string_view words);
  /// Its end, if it has come.
  std::optional<process_end> ended();

  std::string out;  ///< of stdout: what was not read as lines
  std::string err;

 private:
  bool pump(int wait_ms);
  pid_t pid_ = -1;
  int in_ = -1, out_ = -1, err_ = -1;
  std::string to_write_;
  std::optional<process_end> end_;
};

std::string read_file(const std::string& path);
/// Counts `word` in `text`.
std::size_t count_of(std::string_view text, std::string_view word);

/// Living processes (no zombies) with `word` as an argument of their own.
std::set<pid_t> processes_with(const std::string& word);
std::vector<pid_t> children_of(pid_t pid);
/// Ended children that `pid` has not reaped.
std::size_t zombies_of(pid_t pid);
std::size_t open_descriptors(pid_t pid);
/// Returns true if the process exists and is no zombie.
bool alive(pid_t pid);
/// Kills what is left of a test: processes that carry its tag.
void kill_all_with(const std::string& tag);

/// A number of /proc/PID/status in KiB, such as "VmRSS:" or "VmHWM:" (the peak).
std::size_t memory_kib(pid_t pid, std::string_view line);
/// Starts a new peak (VmHWM) at the present size.
void reset_peak(pid_t pid);

}  // namespace mcpbx::e2e

// The processes that are measured: started, weighed by /proc, ended.
#pragma once
#include <sys/types.h>

#include <cstdint>
#include <string>
#include <vector>

namespace mcpbx::bench {

/// Of a process and everything below it, without the tool servers (bench_echo).
struct weight {
  double resident_mib = 0;   ///< now
  double peak_mib = 0;       ///< sum of each process's own peak since the last reset
  std::uint64_t cpu_ns = 0;  ///< time on a CPU, from schedstat
};

class process {
 public:
  enum class io : std::uint8_t {
    none,   ///< stdin and stdout are /dev/null
    pipes,  ///< both are ours
    output  ///< only stdout is ours
  };
  /// Starts argv[0], a path, with the present environment; standard error goes to /dev/null unless BENCH_STDERR is set.
  process(const std::vector<std::string>& argv, io how);
  /// SIGTERM, 10 s, SIGKILL; then it is reaped.
  ~process();
  process(process&& other) noexcept;
  process& operator=(process&&) = delete;

  pid_t pid() const noexcept { return pid_; }
  /// Our ends of its stdin and stdout, given away once.
  int take_in();
  int take_out();
  weight weigh() const;
  void reset_peak() const;
  /// Waits for its end. Returns the CPU time of it and what it waited for, in milliseconds; a negative number when it
  /// failed.
  double finish();

 private:
  pid_t pid_ = -1;
  int in_ = -1, out_ = -1;
};

/// A folder of our own below /tmp, removed at the end.
class scratch_folder {
 public:
  scratch_folder();
  ~scratch_folder();
  scratch_folder(const scratch_folder&) = delete;
  scratch_folder& operator=(const scratch_folder&) = delete;
  std::string path(const std::string& name) const { return path_ + "/" + name; }

 private:
  std::string path_;
};

/// Microseconds on the steady clock.
double now_us();
/// Says why on standard error and ends the benchmark.
[[noreturn]] void give_up(const std::string& why);
void write_file(const std::string& path, const std::string& text);

}  // namespace mcpbx::bench

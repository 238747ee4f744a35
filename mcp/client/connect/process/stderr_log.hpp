// Stderr of a tool server. The last bytes are kept for explanations, and the lines go to the log at a bounded rate
// (docs/guarantees.md, G8, G9). Never makes the server wait.
#pragma once
#include "mcp/support/rate_limit.hpp"
#include "mcp/support/time.hpp"

#include <cstddef>
#include <cstdint>
#include <functional>
#include <string>
#include <string_view>

namespace mcpbx::mcp::child {

class stderr_log {
 public:
  /// `taken`, if given, is called with each line, whatever the rate of the log: without its end, and with at most the
  /// first 1024 bytes.
  stderr_log(std::string server, std::size_t ring_bytes, std::function<void(std::string_view)> taken = {});

  /// Takes bytes of stderr that arrived at `now`.
  void feed(std::string_view bytes, time_point now);
  /// Begins the output of a new process. last_line() forgets that of the old one.
  void begin_process();
  /// Ends the output of a process: logs its unfinished line and the number of bytes that were not logged.
  void end_process(time_point now);

  /// Returns the last `bytes` bytes, printable and without secrets.
  std::string tail(std::size_t bytes) const;
  /// Returns the last line of the present process that is not blank, at most 200 bytes, or "".
  std::string last_line() const;
  /// Returns the line of the present process that tells most about its end, at most 200 bytes: the last one with a word
  /// such as "error" among its last 4 KiB, or the one that ends a Python traceback, else last_line().
  std::string error_line() const;
  /// Returns the number of bytes that were not logged because of the rate.
  std::uint64_t dropped() const noexcept { return dropped_total_; }

 private:
  void keep(std::string_view bytes);
  void log_lines(std::string_view bytes, time_point now);
  /// Logs a line, or counts its bytes if the rate is too high. `cut`: the line is incomplete.
  void log_line(std::string_view line, bool cut, time_point now);
  void log_dropped();
  std::string kept() const;
  template <class F>
  void each_line_backwards(F&& f) const;
  /// Returns true if older bytes have been dropped.
  bool full() const noexcept { return ring_.size() == ring_bytes_; }

  std::string server_;
  std::function<void(std::string_view)> taken_;
  std::size_t ring_bytes_;
  std::string ring_;
  std::size_t ring_at_ = 0;     // index of the next byte once the ring is full
  std::size_t of_process_ = 0;  // bytes in the ring that the present process wrote
  std::string line_;            // an unfinished line
  bool skipping_ = false;       // skips the rest of a line that was too long
  rate_limit rate_;             // counts bytes
  std::uint64_t dropped_ = 0, dropped_total_ = 0;
};

}  // namespace mcpbx::mcp::child

// A tool server's stderr: the last bytes are kept for explanations, the lines go to the log at a bounded rate
// (docs/guarantees.md, G8, G9). Never holds the server up.
#pragma once
#include "mcp/support/rate_limit.hpp"
#include "mcp/support/time.hpp"

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

namespace mcpbx::mcp {

class stderr_log {
 public:
  stderr_log(std::string server, std::size_t ring_bytes);

  void feed(std::string_view bytes, time_point now);
  /// A new process begins to write; last_line() forgets the old one's.
  void begin_process();
  /// The process has ended: an unfinished line is logged, and how much was dropped.
  void end_process(time_point now);

  /// The last `bytes` bytes, printable and with secrets taken out.
  std::string tail(std::size_t bytes) const;
  /// The last line with something in it that the present process wrote, at most 200 bytes, or "".
  std::string last_line() const;
  /// The line of the present process that tells most about its end, at most 200 bytes, or "": of its last 4 KiB the
  /// last line with one of the words error, cannot, fatal, panic, exception (in any case, also within a word; not
  /// frames of a stack), or the line that ends a Python traceback; where there is none, last_line().
  std::string error_line() const;
  std::uint64_t dropped() const noexcept { return dropped_total_; }

 private:
  void keep(std::string_view bytes);
  void log_lines(std::string_view bytes, time_point now);
  /// `cut`: more of the line is left out, or never came.
  void log_line(std::string_view line, bool cut, time_point now);
  void log_dropped();
  std::string kept() const;
  template <class F>
  void each_line_backwards(F&& f) const;
  /// Returns true if older bytes have been dropped.
  bool full() const noexcept { return ring_.size() == ring_bytes_; }

  std::string server_;
  std::size_t ring_bytes_;
  std::string ring_;
  std::size_t ring_at_ = 0;     // place of the next byte once the ring is full
  std::size_t of_process_ = 0;  // bytes in the ring that the present process wrote
  std::string line_;            // an unfinished line
  bool skipping_ = false;       // up to the next line break: the line was too long or the rate too high
  rate_limit rate_;             // bytes
  std::uint64_t dropped_ = 0, dropped_total_ = 0;
};

}  // namespace mcpbx::mcp

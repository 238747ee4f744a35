// The daemon's log: spdlog behind this one file, on a lane of its own, bounded, with secrets and control characters
// taken out of every line (docs/guarantees.md, G35, G47).
#pragma once
#include "mcp/async/lane.hpp"
#include "mcp/support/log.hpp"

#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <string_view>

namespace mcpbx::daemon {

class log_writer {
 public:
  /// Installs itself as the sink of mcpbx::log. Lines go to stderr: with time and level, or with the journal's priority
  /// prefixes when systemd reads it. What does not fit in `max_queued` bytes is dropped and counted. With a `file`
  /// stderr is that file, rotated by size (stderr_file).
  explicit log_writer(log::level threshold, std::size_t max_queued = 1u << 20, std::string file = {});
  /// Writes what is queued.
  ~log_writer();
  log_writer(const log_writer&) = delete;
  log_writer& operator=(const log_writer&) = delete;
  /// Begins the file anew; the lines so far are kept in PATH.1.
  void rotate();
  std::uint64_t dropped() const;

 private:
  struct queue;
  std::shared_ptr<queue> queue_;
};

/// One log line made safe: registered secrets as ***, and control characters, invalid UTF-8 and all that is not seen
/// written out, so that no text of a peer can fake a line of ours, or change how a terminal shows one.
std::string safe_log_line(std::string_view line);

/// Writes `text` to stderr, beside the log: what a start, or a check of the configuration, has to say. Its lines stay;
/// secrets and what is not seen as in a log line.
void say(std::string_view text);

}  // namespace mcpbx::daemon

// The daemon's log: a bounded queue in front of spdlog, on a lane of its own. Secrets and control characters are
// removed from every line (docs/guarantees.md, G35, G47).
#pragma once
#include "mcp/async/lane.hpp"
#include "mcp/support/log.hpp"

#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <string_view>

namespace mcpbx::daemon::process {

class log_writer {
 public:
  /// Installs this object as the sink of mcpbx::log. Lines go to stderr, with journald's prefixes under systemd, or to
  /// `file`, which is rotated (stderr_file). Those beyond `max_queued` bytes are dropped and counted.
  explicit log_writer(log::level threshold, std::size_t max_queued = 1u << 20, std::string file = {});
  /// Writes the queued lines.
  ~log_writer();
  log_writer(const log_writer&) = delete;
  log_writer& operator=(const log_writer&) = delete;
  /// Rotates the file: earlier lines move to PATH.1.
  void rotate();
  std::uint64_t dropped() const;

 private:
  struct queue;
  std::shared_ptr<queue> queue_;
};

/// Returns a safe form of a log line: secrets as ***; control characters, invalid UTF-8 and invisible characters
/// escaped, so that no peer can fake a line or change how a terminal shows one.
std::string safe_log_line(std::string_view line);

/// Writes `text` to stderr outside the log, for messages of the start and of a configuration check. Keeps its line
/// breaks; secrets and invisible characters are treated as in a log line. In the journal each line gets the level.
void say(std::string_view text, log::level l = log::level::error);

}  // namespace mcpbx::daemon::process

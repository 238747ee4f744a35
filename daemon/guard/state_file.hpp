// Small files of the state directory, blocking: read whole, replaced in one step, locked against other daemons. Used on
// a lane.
#pragma once
#include "mcp/support/error.hpp"

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace mcpbx::daemon {

/// Creates the folder of `path` with mode 0700, and those above it that are missing.
result<void> make_folder_of(const std::string& path);

/// The whole file; nullopt when there is none. errc::io when it cannot be read, is no regular file or has more than
/// `max_bytes`.
result<std::optional<std::string>> read_state_file(const std::string& path, std::size_t max_bytes);

/// Puts `text` in place of the file, mode 0600: whoever reads, also after a loss of power, finds the old text or the
/// new one. errc::io leaves the old one.
result<void> replace_state_file(const std::string& path, std::string_view text);

/// Keeps other processes from changing a file, by a lock on `path`.lock beside it; let go by the destructor. The folder
/// must be there.
class state_lock {
 public:
  /// Waits 5 s at most, then errc::io.
  static result<state_lock> take(const std::string& path);
  ~state_lock();
  state_lock(state_lock&& other) noexcept;
  state_lock& operator=(state_lock&&) = delete;

 private:
  explicit state_lock(int fd) : fd_(fd) {}
  int fd_;
};

/// "2026-11-21T19:17:46.123Z" from milliseconds since 1970.
std::string utc_text(std::int64_t wall_ms);

}  // namespace mcpbx::daemon

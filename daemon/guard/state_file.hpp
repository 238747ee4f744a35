// Reads, atomically replaces and locks small files of the state directory. All functions block; call them on a lane.
#pragma once
#include "mcp/files/whole_file.hpp"
#include "mcp/support/error.hpp"

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace mcpbx::daemon::guard {

/// Creates the folder of `path` with mode 0700, and those above it that are missing.
using files::make_folder_of;

/// Reads the whole file; see read_whole_file().
result<std::optional<std::string>> read_state_file(const std::string& path, std::size_t max_bytes);

/// Replaces the file at once, with mode 0600; see replace_whole_file().
result<void> replace_state_file(const std::string& path, std::string_view text);

/// Lock on `path`.lock that keeps other processes from changing the file beside it. The destructor releases it. The
/// folder must exist.
class state_lock {
 public:
  /// Takes the lock and waits for it at most 5 s; then errc::io.
  static result<state_lock> take(const std::string& path);
  ~state_lock();
  state_lock(state_lock&& other) noexcept;
  state_lock& operator=(state_lock&&) = delete;

 private:
  explicit state_lock(int fd) : fd_(fd) {}
  int fd_;
};

/// Formats milliseconds since 1970 as "2026-11-21T19:17:46.123Z".
std::string utc_text(std::int64_t wall_ms);

}  // namespace mcpbx::daemon::guard

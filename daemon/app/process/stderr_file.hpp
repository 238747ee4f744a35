// The file behind the daemon's stderr, bounded by rotation.
#pragma once
#include <cstdint>
#include <string>

namespace mcpbx::daemon::process {

/// Returns true if systemd's journal reads stderr. $JOURNAL_STREAM holds device and inode of the stream it was set for,
/// since programs with another stderr inherit it.
bool stderr_is_journal();

class stderr_file {
 public:
  static constexpr std::uint64_t usual_bytes = 10u << 20;
  static constexpr int usual_files = 10;
  /// Redirects stderr to `path` unless it is that file already.
  explicit stderr_file(std::string path, std::uint64_t max_bytes = usual_bytes, int files = usual_files);
  /// Rotates the file if it is full, or always with `anew`: it becomes PATH.1, that one PATH.2 and so on. Opens a new
  /// file if another process has moved this one. To be called after lines were written.
  void look(bool anew = false);

 private:
  void open();
  std::string path_;
  std::uint64_t max_bytes_;
  int files_;
};

}  // namespace mcpbx::daemon::process

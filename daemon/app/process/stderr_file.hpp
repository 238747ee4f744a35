// The file that a daemon's stderr is: bounded by rotation.
#pragma once
#include <cstdint>
#include <string>

namespace mcpbx::daemon {

/// Whether systemd's journal reads our stderr. $JOURNAL_STREAM names device and inode of the stream that it was set
/// for, and is inherited by programs whose stderr is another one.
bool stderr_is_journal();

class stderr_file {
 public:
  static constexpr std::uint64_t usual_bytes = 10u << 20;
  static constexpr int usual_files = 10;
  /// Makes `path` our stderr unless it is already.
  explicit stderr_file(std::string path, std::uint64_t max_bytes = usual_bytes, int files = usual_files);
  /// To be called when lines have been written. A full file becomes PATH.1, that one PATH.2 and so on; with `anew` any
  /// does. A file that another process has moved away is begun anew.
  void look(bool anew = false);

 private:
  void open();
  std::string path_;
  std::uint64_t max_bytes_;
  int files_;
};

}  // namespace mcpbx::daemon

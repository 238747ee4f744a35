// Reads the end of a log file, and what is added to it, over rotations.
#pragma once
#include "mcp/support/error.hpp"

#include <sys/types.h>

#include <cstddef>
#include <functional>
#include <string>
#include <string_view>

namespace mcpbx::cli {

class log_file {
 public:
  static bool exists(const std::string& path);
  /// Opens a regular file before its last `lines` lines, of at most 4 MiB. errc::io.
  static result<log_file> open(const std::string& path, std::size_t lines);
  ~log_file();
  log_file(log_file&& other) noexcept;
  log_file& operator=(log_file&&) = delete;

  /// Gives `line` each whole line that has come, without its end, until it returns false. Goes on with the new file if
  /// the path has another one now, and from the front if the file was cut. Lines over 64 KiB come in parts.
  void take(const std::function<bool(std::string_view)>& line);

 private:
  log_file(std::string path, int fd, off_t at) : path_(std::move(path)), fd_(fd), at_(at) {}
  void read_on(const std::function<bool(std::string_view)>& line, bool& open);
  std::string path_;
  int fd_;
  off_t at_;
  std::string part_;  ///< of a line whose end has not come
};

}  // namespace mcpbx::cli

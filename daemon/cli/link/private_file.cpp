// Writes a new file beside the old one and puts it in its place.
#include "daemon/cli/link/private_file.hpp"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <filesystem>
#include <system_error>

namespace mcpbx::cli {
namespace {

bool write_whole_text(int fd, std::string_view text) {
  while (!text.empty()) {
    const ssize_t n = ::write(fd, text.data(), text.size());
    if (n < 0 && errno == EINTR) continue;
    if (n <= 0) return false;
    text.remove_prefix(static_cast<std::size_t>(n));
  }
  return true;
}

}  // namespace

bool replace_private_file(const std::string& path, std::string_view text) {
  std::error_code wrong;
  const std::filesystem::path folder = std::filesystem::path(path).parent_path();
  if (!std::filesystem::exists(folder, wrong)) {
    std::filesystem::create_directories(folder, wrong);
    ::chmod(folder.c_str(), 0700);
  }
  const std::string next = path + "." + std::to_string(::getpid());
  ::unlink(next.c_str());  // left by a process of the same number that was killed
  const int fd = ::open(next.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC | O_NOFOLLOW, 0600);
  if (fd < 0) return false;
  const bool written = write_whole_text(fd, text) && ::fsync(fd) == 0;
  if (::close(fd) == 0 && written && ::rename(next.c_str(), path.c_str()) == 0) return true;
  ::unlink(next.c_str());
  return false;
}

}  // namespace mcpbx::cli

// Writes a new file beside the old one and puts it in its place.
#include "daemon/cli/link/private_file.hpp"

#include <fcntl.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <chrono>
#include <filesystem>
#include <system_error>
#include <thread>

namespace mcpbx::cli::link {
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

void make_private_folder_of(const std::string& path) {
  std::error_code wrong;
  const std::filesystem::path folder = std::filesystem::path(path).parent_path();
  if (std::filesystem::exists(folder, wrong)) return;
  std::filesystem::create_directories(folder, wrong);
  ::chmod(folder.c_str(), 0700);
}

constexpr std::chrono::milliseconds longest_lock_wait{1'000}, between_tries{5};

}  // namespace

private_lock::private_lock(const std::string& path) {
  make_private_folder_of(path);
  fd_ = ::open((path + ".lock").c_str(), O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW, 0600);
  const auto until = std::chrono::steady_clock::now() + longest_lock_wait;
  while (fd_ >= 0 && !held_) {
    held_ = ::flock(fd_, LOCK_EX | LOCK_NB) == 0;
    if (held_ || (errno != EWOULDBLOCK && errno != EINTR) || std::chrono::steady_clock::now() >= until) return;
    std::this_thread::sleep_for(between_tries);
  }
}

private_lock::~private_lock() {
  if (fd_ >= 0) ::close(fd_);
}

bool replace_private_file(const std::string& path, std::string_view text) {
  make_private_folder_of(path);
  const std::string next = path + "." + std::to_string(::getpid());
  ::unlink(next.c_str());  // left by a process of the same number that was killed
  const int fd = ::open(next.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC | O_NOFOLLOW, 0600);
  if (fd < 0) return false;
  const bool written = write_whole_text(fd, text) && ::fsync(fd) == 0;
  if (::close(fd) == 0 && written && ::rename(next.c_str(), path.c_str()) == 0) return true;
  ::unlink(next.c_str());
  return false;
}

}  // namespace mcpbx::cli::link

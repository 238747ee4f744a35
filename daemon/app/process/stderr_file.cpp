// Rotation of a log file that several daemons may share (other sockets, the same state folder): the one that finds it
// full moves it, and the others notice another inode at the path.
#include "daemon/app/process/stderr_file.hpp"

#include "mcp/process/unique_fd.hpp"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cstdio>
#include <cstdlib>
#include <optional>
#include <utility>

namespace mcpbx::daemon::process {
namespace {

std::optional<struct stat> looked_at(int fd) {
  struct stat s{};
  return ::fstat(fd, &s) == 0 ? std::optional(s) : std::nullopt;
}

}  // namespace

bool stderr_is_journal() {
  const char* named = std::getenv("JOURNAL_STREAM");
  const auto s = looked_at(STDERR_FILENO);
  return named != nullptr && s && named == std::to_string(s->st_dev) + ":" + std::to_string(s->st_ino);
}

stderr_file::stderr_file(std::string path, std::uint64_t max_bytes, int files)
    : path_(std::move(path)), max_bytes_(max_bytes), files_(files) {
  look();
}

void stderr_file::look(bool anew) {
  const auto ours = looked_at(STDERR_FILENO);
  struct stat named{};
  if (!ours || ::stat(path_.c_str(), &named) != 0 || ours->st_dev != named.st_dev || ours->st_ino != named.st_ino)
    return open();
  if (!S_ISREG(named.st_mode) || (!anew && static_cast<std::uint64_t>(named.st_size) < max_bytes_)) return;
  for (int i = files_ - 1; i > 0; --i) {
    const auto from = i == 1 ? path_ : path_ + "." + std::to_string(i - 1);
    std::rename(from.c_str(), (path_ + "." + std::to_string(i)).c_str());
  }
  open();
}

// Opens the file. On failure further lines go into the old one.
void stderr_file::open() {
  const mcp::process::unique_fd file(
      ::open(path_.c_str(), O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK | O_NOCTTY, 0600));
  const auto s = looked_at(file.get());
  if (file.get() >= 0 && s && S_ISREG(s->st_mode)) ::dup2(file.get(), STDERR_FILENO);
}

}  // namespace mcpbx::daemon::process

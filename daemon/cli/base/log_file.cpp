// Reads with pread, so that nothing depends on the file's own position.
#include "daemon/cli/base/log_file.hpp"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstring>
#include <utility>

namespace mcpbx::cli {
namespace {

constexpr off_t most_at_first = 4 << 20;
constexpr std::size_t longest_part = 64u << 10;

int opened_log(const std::string& path) {
  return ::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK);
}

// Returns the place of the last `lines` lines.
off_t start_of_lines(int fd, off_t size, std::size_t lines) {
  if (lines == 0) return size;
  std::array<char, 65536> block;
  std::size_t seen = 0;
  const off_t least = std::max<off_t>(0, size - most_at_first);
  for (off_t end = size; end > least;) {
    const off_t begin = std::max<off_t>(least, end - static_cast<off_t>(block.size()));
    const auto n = ::pread(fd, block.data(), static_cast<std::size_t>(end - begin), begin);
    if (n <= 0) return end;
    for (auto i = n; i-- > 0;)
      if (block.at(static_cast<std::size_t>(i)) == '\n' && begin + i + 1 != size && ++seen == lines)
        return begin + i + 1;
    end = begin;
  }
  return least;
}

}  // namespace

bool log_file::exists(const std::string& path) {
  struct stat there{};
  return ::stat(path.c_str(), &there) == 0;
}

result<log_file> log_file::open(const std::string& path, std::size_t lines) {
  const int fd = opened_log(path);
  if (fd < 0) return fail(errc::io, "the log " + path + " cannot be read (" + std::strerror(errno) + ")");
  struct stat there{};
  if (::fstat(fd, &there) != 0 || !S_ISREG(there.st_mode)) {
    ::close(fd);
    return fail(errc::io, "the log " + path + " is no regular file");
  }
  return log_file(path, fd, start_of_lines(fd, there.st_size, lines));
}

log_file::~log_file() {
  if (fd_ >= 0) ::close(fd_);
}

log_file::log_file(log_file&& other) noexcept
    : path_(std::move(other.path_)), fd_(std::exchange(other.fd_, -1)), at_(other.at_), part_(std::move(other.part_)) {}

void log_file::read_on(const std::function<bool(std::string_view)>& line, bool& open) {
  std::array<char, 65536> block;
  for (ssize_t n = 0; open && (n = ::pread(fd_, block.data(), block.size(), at_)) > 0;) {
    at_ += n;
    part_.append(block.data(), static_cast<std::size_t>(n));
    std::size_t begin = 0;
    for (auto end = part_.find('\n'); open && end != std::string::npos; end = part_.find('\n', begin)) {
      open = line(std::string_view(part_).substr(begin, end - begin));
      begin = end + 1;
    }
    part_.erase(0, begin);
    if (open && part_.size() > longest_part) open = line(std::exchange(part_, {}));
  }
}

void log_file::take(const std::function<bool(std::string_view)>& line) {
  bool open = true;
  read_on(line, open);
  struct stat ours{}, now{};
  if (!open || ::fstat(fd_, &ours) != 0) return;
  if (ours.st_size < at_) {
    at_ = 0;
    part_.clear();
    read_on(line, open);
  }
  if (!open || ::stat(path_.c_str(), &now) != 0 || (now.st_dev == ours.st_dev && now.st_ino == ours.st_ino)) return;
  const int next = opened_log(path_);
  if (next < 0) return;
  read_on(line, open);  // lines that came between the two looks
  ::close(std::exchange(fd_, next));
  at_ = 0;
  part_.clear();
  read_on(line, open);
}

}  // namespace mcpbx::cli

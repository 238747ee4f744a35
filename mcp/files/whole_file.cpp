// File access with the checks and the fsync calls that small files need which people rely on.
#include "mcp/files/whole_file.hpp"

#include <fcntl.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <chrono>
#include <cstdint>
#include <filesystem>
#include <system_error>
#include <thread>

namespace mcpbx::files {
namespace {

constexpr std::chrono::milliseconds longest_wait{5'000}, between_tries{10};

std::unexpected<error> failed(const std::string& path, std::string_view what, int number) {
  return fail(errc::io, path + " " + std::string(what) + ": " + std::generic_category().message(number));
}

class descriptor {
 public:
  explicit descriptor(int fd) : fd_(fd) {}
  ~descriptor() {
    if (fd_ >= 0) ::close(fd_);
  }
  descriptor(const descriptor&) = delete;
  descriptor& operator=(const descriptor&) = delete;
  int get() const { return fd_; }

 private:
  int fd_;
};

bool write_all_of(int fd, std::string_view text) {
  while (!text.empty()) {
    const ssize_t n = ::write(fd, text.data(), text.size());
    if (n < 0 && errno == EINTR) continue;
    if (n < 0) return false;
    text.remove_prefix(static_cast<std::size_t>(n));
  }
  return true;
}

std::string folder_of(const std::string& path) {
  const auto folder = std::filesystem::path(path).parent_path().string();
  return folder.empty() ? "." : folder;
}

/// Opens the folder and locks it, so that writers of one file do not meet at its temporary name. Folders that cannot be
/// locked (of some network file systems) are used as they are.
result<void> lock_folder(int fd, const std::string& path) {
  for (auto waited = std::chrono::milliseconds(0); ::flock(fd, LOCK_EX | LOCK_NB) != 0; waited += between_tries) {
    if (errno != EWOULDBLOCK && errno != EINTR) return {};
    if (waited >= longest_wait)
      return fail(errc::io,
                  path + " is being written by another process, which should have ended: see `fuser " + path + "`");
    std::this_thread::sleep_for(between_tries);
  }
  return {};
}

}  // namespace

result<void> make_folder_of(const std::string& path) {
  std::error_code wrong;
  const auto folder = std::filesystem::path(path).parent_path();
  std::filesystem::create_directories(folder.parent_path(), wrong);
  if (wrong) return failed(folder.string(), "cannot be created", wrong.value());
  if (::mkdir(folder.c_str(), 0700) != 0 && errno != EEXIST) return failed(folder.string(), "cannot be created", errno);
  return {};
}

result<std::optional<std::string>> read_whole_file(const std::string& path, std::size_t max_bytes) {
  // O_NONBLOCK, so that a pipe of that name does not block.
  const descriptor file(::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK));
  if (file.get() < 0) {
    const int why = errno;
    struct stat link{};
    if (why != ENOENT || ::lstat(path.c_str(), &link) == 0) return failed(path, "cannot be opened", why);
    return std::nullopt;
  }
  struct stat s{};
  if (::fstat(file.get(), &s) != 0) return failed(path, "cannot be read", errno);
  if (!S_ISREG(s.st_mode)) return fail(errc::io, path + " is not a regular file");
  if (static_cast<std::uint64_t>(s.st_size) > max_bytes)
    return fail(errc::io, path + " has more than " + std::to_string(max_bytes) + " bytes");
  std::string text(static_cast<std::size_t>(s.st_size), '\0');
  std::size_t have = 0;
  while (have < text.size()) {
    const ssize_t n = ::read(file.get(), text.data() + have, text.size() - have);
    if (n < 0 && errno == EINTR) continue;
    if (n < 0) return failed(path, "cannot be read", errno);
    if (n == 0) break;
    have += static_cast<std::size_t>(n);
  }
  text.resize(have);
  return text;
}

result<void> replace_whole_file(const std::string& path, std::string_view text, const whole_file_options& how) {
  const std::string fresh = path + std::string(how.ending), place = folder_of(path);
  const descriptor folder(::open(place.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC));
  if (folder.get() < 0) return failed(path, "cannot be written, since its folder cannot be opened", errno);
  if (auto locked = lock_folder(folder.get(), place); !locked) return locked;
  // Remove the rest of an interrupted attempt, which may have another mode.
  ::unlink(fresh.c_str());
  int wrong = 0;
  {
    const descriptor file(::open(fresh.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC | O_NOFOLLOW, 0600));
    if (file.get() < 0) return failed(path, "cannot be written", errno);
    if (!write_all_of(file.get(), text) || (how.mode != 0600 && ::fchmod(file.get(), how.mode) != 0) ||
        ::fsync(file.get()) != 0)
      wrong = errno;
  }
  if (wrong == 0 && ::rename(fresh.c_str(), path.c_str()) != 0) wrong = errno;
  if (wrong != 0) {
    ::unlink(fresh.c_str());
    return failed(path, "cannot be written", wrong);
  }
  // Sync the folder as well, so that the new name is on the disk.
  if (::fsync(folder.get()) != 0) return failed(path, "cannot be made safe on the disk", errno);
  return {};
}

result<void> remove_whole_file(const std::string& path) {
  if (::unlink(path.c_str()) != 0) {
    if (errno == ENOENT) return {};
    return failed(path, "cannot be removed", errno);
  }
  const descriptor folder(::open(folder_of(path).c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC));
  if (folder.get() < 0 || ::fsync(folder.get()) != 0) return failed(path, "cannot be made safe on the disk", errno);
  return {};
}

}  // namespace mcpbx::files

// File access with the checks and the fsync calls that small state files need.
#include "daemon/guard/state_file.hpp"

#include <fcntl.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <chrono>
#include <cstdio>
#include <cstring>
#include <ctime>
#include <filesystem>
#include <system_error>
#include <thread>
#include <utility>

namespace mcpbx::daemon {
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

bool write_all(int fd, std::string_view text) {
  while (!text.empty()) {
    const ssize_t n = ::write(fd, text.data(), text.size());
    if (n < 0 && errno == EINTR) continue;
    if (n < 0) return false;
    text.remove_prefix(static_cast<std::size_t>(n));
  }
  return true;
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

result<std::optional<std::string>> read_state_file(const std::string& path, std::size_t max_bytes) {
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

result<void> replace_state_file(const std::string& path, std::string_view text) {
  const std::string fresh = path + ".new";
  // Remove the rest of an interrupted attempt, which may have another mode.
  ::unlink(fresh.c_str());
  int wrong = 0;
  {
    const descriptor file(::open(fresh.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC | O_NOFOLLOW, 0600));
    if (file.get() < 0) return failed(fresh, "cannot be created", errno);
    if (!write_all(file.get(), text) || ::fsync(file.get()) != 0) wrong = errno;
  }
  if (wrong == 0 && ::rename(fresh.c_str(), path.c_str()) != 0) wrong = errno;
  if (wrong != 0) {
    ::unlink(fresh.c_str());
    return failed(path, "cannot be written", wrong);
  }
  // Sync the folder as well, so that the new name is on the disk.
  const descriptor folder(
      ::open(std::filesystem::path(path).parent_path().c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC));
  if (folder.get() < 0 || ::fsync(folder.get()) != 0) return failed(path, "cannot be made safe on the disk", errno);
  return {};
}

result<state_lock> state_lock::take(const std::string& path) {
  const std::string name = path + ".lock";
  const int fd = ::open(name.c_str(), O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW, 0600);
  if (fd < 0) return failed(name, "cannot be opened", errno);
  state_lock lock(fd);
  for (auto waited = std::chrono::milliseconds(0); ::flock(fd, LOCK_EX | LOCK_NB) != 0; waited += between_tries) {
    if (errno != EWOULDBLOCK && errno != EINTR) return failed(name, "cannot be locked", errno);
    if (waited >= longest_wait)
      return fail(errc::io,
                  name + " is held by another process, which should have let it go: see `fuser " + name + "`");
    std::this_thread::sleep_for(between_tries);
  }
  return lock;
}

state_lock::state_lock(state_lock&& other) noexcept : fd_(std::exchange(other.fd_, -1)) {}

state_lock::~state_lock() {
  if (fd_ >= 0) ::close(fd_);
}

std::string utc_text(std::int64_t wall_ms) {
  const auto seconds = static_cast<std::time_t>(wall_ms / 1000);
  std::tm parts{};
  ::gmtime_r(&seconds, &parts);
  std::array<char, 48> text{};
  const auto n = std::strftime(text.data(), text.size(), "%Y-%m-%dT%H:%M:%S", &parts);
  std::snprintf(text.data() + n, text.size() - n, ".%03dZ", static_cast<int>(wall_ms % 1000));
  return text.data();
}

}  // namespace mcpbx::daemon

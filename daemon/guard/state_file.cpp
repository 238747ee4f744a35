// Locks of the state directory; its files are whole files (mcp/files/whole_file.hpp).
#include "daemon/guard/state_file.hpp"

#include <fcntl.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <chrono>
#include <cstdio>
#include <ctime>
#include <system_error>
#include <thread>
#include <utility>

namespace mcpbx::daemon::guard {
namespace {

constexpr std::chrono::milliseconds longest_wait{5'000}, between_tries{10};

std::unexpected<error> failed(const std::string& path, std::string_view what, int number) {
  return fail(errc::io, path + " " + std::string(what) + ": " + std::generic_category().message(number));
}

}  // namespace

result<std::optional<std::string>> read_state_file(const std::string& path, std::size_t max_bytes) {
  return files::read_whole_file(path, max_bytes);
}

result<void> replace_state_file(const std::string& path, std::string_view text) {
  return files::replace_whole_file(path, text);
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

}  // namespace mcpbx::daemon::guard

// Links in the state folder that lead to the socket of the running daemon, made under a lock.
#include "daemon/app/callers/running_link.hpp"

#include "conf/places.hpp"
#include "mcp/socket/unix_socket.hpp"
#include "mcp/support/log.hpp"
#include "mcp/support/text.hpp"

#include <fcntl.h>
#include <poll.h>
#include <sys/file.h>
#include <unistd.h>

#include <cstddef>
#include <filesystem>
#include <utility>

namespace mcpbx::daemon::callers {
namespace {

namespace fs = std::filesystem;

constexpr int lock_tries = 200, lock_pause_ms = 10;

// Waits a bounded time: the holder is about to listen or to give up, unless it hangs.
mcp::process::unique_fd locked(const std::string& path) {
  mcp::process::unique_fd lock(::open(path.c_str(), O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW, 0600));
  for (int i = 0; lock.get() >= 0 && i < lock_tries && ::flock(lock.get(), LOCK_EX | LOCK_NB) != 0; ++i)
    ::poll(nullptr, 0, lock_pause_ms);
  return lock;
}

}  // namespace

result<running_link> running_link::take(const conf::environment& env, std::string path) {
  running_link mine;
  std::error_code wrong;
  mine.path_ = fs::absolute(path, wrong).lexically_normal().string();
  for (const auto& link : conf::running_links(env)) {
    std::error_code failed;
    const auto folder = link.parent_path();
    if (fs::create_directories(folder, failed); !failed) mine.links_.push_back(link.string());
  }
  if (mine.links_.empty()) return mine;
  mine.lock_ = locked(mine.links_.front() + ".lock");
  for (const auto& link : mine.links_) {
    const auto other = mcp::socket::connect_link(link);
    if (!other) continue;
    ::close(other->fd);
    if (other->path == mine.path_) continue;  // the lock of the socket decides
    mine.links_.clear();                      // the links belong to the other daemon
    return fail(errc::unavailable, "a daemon of this user already runs at " + other->path +
                                       ", though this one would listen at " + path +
                                       "; use that, end it with `mcpbx --socket " + shell_word(other->path) +
                                       " stop`, or name a place with --socket");
  }
  return mine;
}

void running_link::show() {
  for (const auto& link : links_)
    if (auto made = mcp::socket::set_link(link, path_); !made) log::info(made.error().message);
  lock_ = mcp::process::unique_fd();
  shown_ = true;
}

running_link::~running_link() {
  if (!shown_) return;
  for (const auto& link : links_) mcp::socket::remove_link(link, path_);
}

running_link::running_link(running_link&& other) noexcept
    : links_(std::exchange(other.links_, {})),
      path_(std::move(other.path_)),
      lock_(std::move(other.lock_)),
      shown_(std::exchange(other.shown_, false)) {}

running_link& running_link::operator=(running_link&& other) noexcept {
  std::swap(links_, other.links_);
  std::swap(path_, other.path_);
  std::swap(lock_, other.lock_);
  std::swap(shown_, other.shown_);
  return *this;
}

}  // namespace mcpbx::daemon::callers

// Opens the local socket in the order lock, probe, unlink, bind. Peers are identified before any of their bytes is
// read.
#include "mcp/socket/unix_socket.hpp"

#include "mcp/process/unique_fd.hpp"
#include "mcp/socket/acceptor.hpp"
#include "mcp/support/text.hpp"

#include <fcntl.h>
#include <sys/file.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/time.h>
#include <sys/un.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <optional>
#include <utility>

namespace mcpbx::mcp::socket {
namespace {

namespace asio = boost::asio;

std::unexpected<error> already_runs(const std::string& path) {
  return fail(errc::unavailable, "a daemon already runs at " + path +
                                     ": use that one, or end it with `mcpbx --socket " + shell_word(path) + " stop`");
}

std::unexpected<error> system_failure(const std::string& what, int number) {
  return fail(errc::io, what + ": " + std::strerror(number));
}

result<sockaddr_un> address_of(const std::string& path) {
  sockaddr_un address{};
  address.sun_family = AF_UNIX;
  // sun_path needs one byte for its final zero.
  if (path.empty() || path.size() >= sizeof address.sun_path)
    return fail(errc::invalid_argument, "the socket path \"" + path + "\" has " + std::to_string(path.size()) +
                                            " bytes; a Unix socket takes 1 to 107: choose a shorter one with --socket");
  if (path.find('\0') != std::string::npos) return fail(errc::invalid_argument, "the socket path holds a zero byte");
  std::memcpy(address.sun_path, path.data(), path.size());
  return address;
}

std::string directory_of(const std::string& path) {
  const auto slash = path.rfind('/');
  if (slash == std::string::npos) return ".";
  return slash == 0 ? "/" : path.substr(0, slash);
}

// Creates the missing levels of `directory` with mode 0700.
result<void> create_directories(const std::string& directory) {
  if (::mkdir(directory.c_str(), 0700) == 0 || errno == EEXIST) return {};
  if (errno == ENOENT && directory != directory_of(directory)) {
    if (auto parent = create_directories(directory_of(directory)); !parent) return parent;
    if (::mkdir(directory.c_str(), 0700) == 0 || errno == EEXIST) return {};
  }
  return system_failure("cannot create the directory " + directory, errno);
}

result<void> check_directory(const std::string& directory) {
  struct stat s{};
  if (::stat(directory.c_str(), &s) != 0) return system_failure("cannot look at the directory " + directory, errno);
  if (!S_ISDIR(s.st_mode)) return fail(errc::io, directory + " is not a directory, so it cannot hold the socket");
  if (s.st_uid != ::geteuid())
    return fail(errc::io, "the directory " + directory + " belongs to user " + std::to_string(s.st_uid) +
                              ", so the socket in it could be replaced: use a directory of your own");
  if ((s.st_mode & (S_IWGRP | S_IWOTH)) != 0)
    return fail(errc::io, "others may write to the directory " + directory +
                              ", so they could replace the socket in it: run `chmod go-w " + shell_word(directory) +
                              "`");
  return {};
}

enum class presence { nothing, stale, live };

// Finds out if a process listens at `address`.
presence probe(const sockaddr_un& address) {
  process::unique_fd s(::socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0));
  if (s.get() < 0) return presence::live;  // unknown, so leave it alone
  if (::connect(s.get(), reinterpret_cast<const sockaddr*>(&address), sizeof address) == 0) return presence::live;
  if (errno == ENOENT) return presence::nothing;
  return errno == ECONNREFUSED ? presence::stale : presence::live;  // EAGAIN: its queue is full
}

class listener final : public unix_listener {
 public:
  listener(const asio::any_io_executor& executor, time_source& time, process::unique_fd socket, process::unique_fd lock,
           std::string path)
      : acceptor_(executor, time, std::move(socket)), lock_(std::move(lock)), path_(std::move(path)) {
    struct stat s{};
    if (!path_.empty() && ::lstat(path_.c_str(), &s) == 0) own_file_ = {s.st_dev, s.st_ino};
  }
  ~listener() override { listener::close(); }
  listener(const listener&) = delete;
  listener& operator=(const listener&) = delete;

  void start(std::function<void(int fd, peer_credentials)> on_connection) override {
    acceptor_.start([told = std::move(on_connection)](process::unique_fd fd) {
      auto peer = peer_of(fd.get());
      if (peer.uid == ::geteuid()) told(fd.release(), std::move(peer));
    });
  }

  void close() override {
    if (!acceptor_.is_open()) return;
    acceptor_.close();
    // Remove the file while the lock is still held, and only if it is the one that we bound.
    struct stat s{};
    if (own_file_ && ::lstat(path_.c_str(), &s) == 0 && s.st_dev == own_file_->first && s.st_ino == own_file_->second)
      ::unlink(path_.c_str());
  }

 private:
  acceptor acceptor_;
  process::unique_fd lock_;
  std::string path_;
  std::optional<std::pair<dev_t, ino_t>> own_file_;
};

result<process::unique_fd> take_lock(const std::string& path, const sockaddr_un& address) {
  const std::string lock_path = path + ".lock";
  process::unique_fd lock(::open(lock_path.c_str(), O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW, 0600));
  if (lock.get() < 0) return system_failure("cannot open the lock " + lock_path, errno);
  int locked = 0;
  do locked = ::flock(lock.get(), LOCK_EX | LOCK_NB);
  while (locked != 0 && errno == EINTR);
  if (locked == 0) return lock;
  if (errno != EWOULDBLOCK) return system_failure("cannot lock " + lock_path, errno);
  if (probe(address) == presence::live) return already_runs(path);
  return fail(errc::unavailable, "a daemon that is starting or stopping already holds " + lock_path +
                                     ": try again when it has ended, within 10 s");
}

}  // namespace

result<std::unique_ptr<unix_listener>> unix_listener::open(asio::any_io_executor executor, time_source& time,
                                                           const std::string& path,
                                                           const std::function<result<void>()>& once_locked) {
  const auto address = address_of(path);
  if (!address) return std::unexpected(address.error());
  const std::string directory = directory_of(path);
  if (auto made = create_directories(directory); !made) return std::unexpected(made.error());
  if (auto checked = check_directory(directory); !checked) return std::unexpected(checked.error());
  auto lock = take_lock(path, *address);
  if (!lock) return std::unexpected(lock.error());

  // Only the holder of the lock probes, unlinks and binds, so that two starting daemons cannot remove each other's
  // socket. A daemon whose lock file was deleted is still found by connecting.
  switch (probe(*address)) {
    case presence::live:
      return already_runs(path);
    case presence::stale: {
      struct stat s{};
      if (::lstat(path.c_str(), &s) == 0 && !S_ISSOCK(s.st_mode))
        return fail(errc::io, path + " is there and is not a socket: move it away or choose another --socket");
      if (::unlink(path.c_str()) != 0 && errno != ENOENT)
        return system_failure("cannot remove the stale socket " + path, errno);
      break;
    }
    case presence::nothing:
      break;
  }
  if (once_locked)
    if (auto good = once_locked(); !good) return std::unexpected(good.error());
  process::unique_fd socket(::socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0));
  if (socket.get() < 0) return system_failure("cannot make a socket", errno);
  // The umask makes the mode right from the start; a chmod after bind would leave a gap.
  const mode_t before = ::umask(0177);
  const int bound = ::bind(socket.get(), reinterpret_cast<const sockaddr*>(&*address), sizeof *address);
  const int number = errno;
  ::umask(before);
  if (bound != 0) return system_failure("cannot bind " + path, number);
  if (::listen(socket.get(), SOMAXCONN) != 0) {
    const int why = errno;
    ::unlink(path.c_str());
    return system_failure("cannot listen at " + path, why);
  }
  return std::make_unique<listener>(executor, time, std::move(socket), std::move(*lock), path);
}

result<std::unique_ptr<unix_listener>> unix_listener::adopt(asio::any_io_executor executor, time_source& time, int fd) {
  process::unique_fd socket(fd);
  int listening = 0, domain = 0;
  socklen_t size = sizeof listening;
  if (::getsockopt(fd, SOL_SOCKET, SO_ACCEPTCONN, &listening, &size) != 0 || listening == 0)
    return fail(errc::io, "descriptor " + std::to_string(fd) + " is no listening socket");
  size = sizeof domain;
  if (::getsockopt(fd, SOL_SOCKET, SO_DOMAIN, &domain, &size) != 0 || domain != AF_UNIX)
    return fail(errc::io, "descriptor " + std::to_string(fd) + " is no Unix socket: use ListenStream with a path");
  ::fcntl(fd, F_SETFD, FD_CLOEXEC);
  ::fcntl(fd, F_SETFL, ::fcntl(fd, F_GETFL) | O_NONBLOCK);
  return std::make_unique<listener>(executor, time, std::move(socket), process::unique_fd(), std::string());
}

result<int> connect_unix(const std::string& path) {
  const auto address = address_of(path);
  if (!address) return std::unexpected(address.error());
  process::unique_fd s(::socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0));
  if (s.get() < 0) return system_failure("cannot make a socket", errno);
  // A connect waits while the listener's queue is full. Bound the wait, in case the daemon is stopped.
  const timeval patience{5, 0}, forever{0, 0};
  ::setsockopt(s.get(), SOL_SOCKET, SO_SNDTIMEO, &patience, sizeof patience);
  int connected = 0;
  do connected = ::connect(s.get(), reinterpret_cast<const sockaddr*>(&*address), sizeof *address);
  while (connected != 0 && errno == EINTR);
  if (connected == 0) {
    ::setsockopt(s.get(), SOL_SOCKET, SO_SNDTIMEO, &forever, sizeof forever);
    return s.release();
  }
  switch (errno) {
    case ENOENT:
    case ECONNREFUSED:
      return fail(errc::unavailable, "no daemon listens at " + path);
    case EAGAIN:
      return fail(errc::unavailable, "the daemon at " + path + " did not accept this connection within 5 s");
    default:
      return system_failure("cannot connect to " + path, errno);
  }
}

}  // namespace mcpbx::mcp::socket

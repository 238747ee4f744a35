// The link to the socket of a running daemon, for programs whose variables name another place.
#include "mcp/process/unique_fd.hpp"
#include "mcp/socket/unix_socket.hpp"

#include <sys/stat.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <cstdio>
#include <cstring>
#include <optional>

namespace mcpbx::mcp::socket {
namespace {

// Returns the target of a link that belongs to us.
std::optional<std::string> target_of(const std::string& link) {
  struct stat s{};
  if (::lstat(link.c_str(), &s) != 0 || !S_ISLNK(s.st_mode) || s.st_uid != ::geteuid()) return std::nullopt;
  std::array<char, 4096> text;
  const ssize_t n = ::readlink(link.c_str(), text.data(), text.size());
  if (n <= 0 || text[0] != '/') return std::nullopt;
  return std::string(text.data(), static_cast<std::size_t>(n));
}

}  // namespace

result<linked_socket> connect_link(const std::string& link) {
  const auto nobody = [&] { return fail(errc::unavailable, "no daemon listens where " + link + " leads"); };
  auto path = target_of(link);
  if (!path) return nobody();
  auto fd = connect_unix(*path);
  if (!fd) return nobody();
  process::unique_fd connected(*fd);
  if (peer_of(connected.get(), false).uid != ::geteuid()) return nobody();
  return linked_socket{connected.release(), std::move(*path)};
}

result<void> set_link(const std::string& link, const std::string& path) {
  const std::string fresh = link + "." + std::to_string(::getpid());
  ::unlink(fresh.c_str());
  if (::symlink(path.c_str(), fresh.c_str()) != 0 || ::rename(fresh.c_str(), link.c_str()) != 0) {
    const int number = errno;
    ::unlink(fresh.c_str());
    return fail(errc::io, "cannot make the link " + link + ": " + std::strerror(number));
  }
  return {};
}

void remove_link(const std::string& link, const std::string& path) noexcept {
  if (target_of(link) == path) ::unlink(link.c_str());
}

}  // namespace mcpbx::mcp::socket

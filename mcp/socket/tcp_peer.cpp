// Finds the socket of a TCP peer: by netlink, which finds one connection among any number, or by /proc/net/tcp if a
// container has no netlink.
#include "mcp/socket/tcp_peer.hpp"

#include "mcp/process/unique_fd.hpp"

#include <arpa/inet.h>
#include <dirent.h>
#include <fcntl.h>
#include <linux/inet_diag.h>
#include <linux/netlink.h>
#include <linux/sock_diag.h>
#include <sys/socket.h>
#include <sys/time.h>
#include <unistd.h>

#include <array>
#include <bit>
#include <charconv>
#include <cstring>
#include <memory>
#include <string>

namespace mcpbx::mcp::socket {
namespace {

struct address {
  std::array<std::uint32_t, 4> words{};  // in network byte order
  std::uint16_t port = 0;                // in network byte order
  bool v6 = false;
};

std::optional<address> address_of(const sockaddr_storage& s) {
  address a;
  if (s.ss_family == AF_INET) {
    sockaddr_in in{};
    std::memcpy(&in, &s, sizeof in);
    a.words[0] = in.sin_addr.s_addr;
    a.port = in.sin_port;
    return a;
  }
  if (s.ss_family != AF_INET6) return std::nullopt;
  sockaddr_in6 in{};
  std::memcpy(&in, &s, sizeof in);
  std::memcpy(a.words.data(), &in.sin6_addr, sizeof in.sin6_addr);
  a.port = in.sin6_port;
  a.v6 = true;
  return a;
}

// Formats an address as /proc/net/tcp does: each word in host byte order, the port as a number.
std::string in_table(const address& a) {
  std::string text;
  const auto hex = [&](std::uint32_t value, int digits) {
    constexpr std::string_view letters = "0123456789ABCDEF";
    for (int shift = (digits - 1) * 4; shift >= 0; shift -= 4) text += letters[value >> shift & 0xf];
  };
  for (std::size_t i = 0; i < (a.v6 ? 4u : 1u); ++i) hex(a.words[i], 8);
  text += ':';
  hex(ntohs(a.port), 4);
  return text;
}

std::string read_file(const char* path) {
  constexpr std::size_t most = 64u << 20;
  std::string text;
  const process::unique_fd fd(::open(path, O_RDONLY | O_CLOEXEC));
  std::array<char, 65536> buffer;
  ssize_t n = 0;
  while (fd.get() >= 0 && text.size() < most && (n = ::read(fd.get(), buffer.data(), buffer.size())) > 0)
    text.append(buffer.data(), static_cast<std::size_t>(n));
  return text;
}

// Returns word number `at` of a line, counted from 0.
std::string_view word(std::string_view line, int at) {
  for (;;) {
    const auto begin = line.find_first_not_of(' ');
    if (begin == std::string_view::npos) return {};
    line.remove_prefix(begin);
    const auto end = line.find(' ');
    if (at-- == 0) return line.substr(0, end);
    if (end == std::string_view::npos) return {};
    line.remove_prefix(end);
  }
}

std::optional<std::uint64_t> number(std::string_view text) {
  std::uint64_t value = 0;
  const auto read = std::from_chars(text.data(), text.data() + text.size(), value);
  if (text.empty() || read.ec != std::errc() || read.ptr != text.data() + text.size()) return std::nullopt;
  return value;
}

template <class F>
bool any_number_in(const std::string& folder, F&& f) {
  const std::unique_ptr<DIR, int (*)(DIR*)> d(::opendir(folder.c_str()), ::closedir);
  if (!d) return false;
  while (const dirent* e = ::readdir(d.get())) {
    const auto value = number(e->d_name);
    if (value && f(*value)) return true;
  }
  return false;
}

}  // namespace

std::optional<tcp_ends> ends_of(int fd) {
  tcp_ends e;
  socklen_t size = sizeof e.local;
  if (::getsockname(fd, reinterpret_cast<sockaddr*>(&e.local), &size) != 0) return std::nullopt;
  size = sizeof e.remote;
  if (::getpeername(fd, reinterpret_cast<sockaddr*>(&e.remote), &size) != 0) return std::nullopt;
  return e.remote.ss_family == AF_INET || e.remote.ss_family == AF_INET6 ? std::optional(e) : std::nullopt;
}

std::optional<tcp_peer> peer_by_diagnosis(const tcp_ends& ends) {
  // The peer's socket has the two ends exchanged.
  const auto here = address_of(ends.remote), there = address_of(ends.local);
  if (!here || !there) return std::nullopt;
  const process::unique_fd s(::socket(AF_NETLINK, SOCK_DGRAM | SOCK_CLOEXEC, NETLINK_SOCK_DIAG));
  const timeval patience{1, 0};
  if (s.get() < 0 || ::setsockopt(s.get(), SOL_SOCKET, SO_RCVTIMEO, &patience, sizeof patience) != 0)
    return std::nullopt;
  struct {
    nlmsghdr head{};
    inet_diag_req_v2 body{};
  } ask;
  ask.head.nlmsg_len = sizeof ask;
  ask.head.nlmsg_type = SOCK_DIAG_BY_FAMILY;
  ask.head.nlmsg_flags = NLM_F_REQUEST;
  ask.body.sdiag_family = here->v6 ? AF_INET6 : AF_INET;
  ask.body.sdiag_protocol = IPPROTO_TCP;
  ask.body.idiag_states = ~0U;
  ask.body.id.idiag_sport = here->port;
  ask.body.id.idiag_dport = there->port;
  std::memcpy(ask.body.id.idiag_src, here->words.data(), sizeof ask.body.id.idiag_src);
  std::memcpy(ask.body.id.idiag_dst, there->words.data(), sizeof ask.body.id.idiag_dst);
  ask.body.id.idiag_cookie[0] = ask.body.id.idiag_cookie[1] = INET_DIAG_NOCOOKIE;
  if (::send(s.get(), &ask, sizeof ask, 0) != static_cast<ssize_t>(sizeof ask)) return std::nullopt;
  alignas(nlmsghdr) std::array<char, 8192> buffer;
  const ssize_t n = ::recv(s.get(), buffer.data(), buffer.size(), 0);
  nlmsghdr head{};
  inet_diag_msg found{};
  if (n < static_cast<ssize_t>(sizeof head)) return std::nullopt;
  std::memcpy(&head, buffer.data(), sizeof head);
  if (head.nlmsg_type != SOCK_DIAG_BY_FAMILY || n < static_cast<ssize_t>(NLMSG_LENGTH(sizeof found)))
    return std::nullopt;
  std::memcpy(&found, buffer.data() + NLMSG_HDRLEN, sizeof found);
  // Without such a connection the kernel answers with a listener.
  if (found.id.idiag_sport != here->port || found.id.idiag_dport != there->port) return std::nullopt;
  if (found.idiag_inode == 0) return std::nullopt;  // the program has closed it
  return tcp_peer{found.idiag_inode, found.idiag_uid};
}

std::optional<tcp_peer> peer_in_table(const tcp_ends& ends, std::string_view table) {
  const auto here = address_of(ends.remote), there = address_of(ends.local);
  if (!here || !there) return std::nullopt;
  const std::string pair = in_table(*here) + " " + in_table(*there);
  while (!table.empty()) {
    const auto line = table.substr(0, table.find('\n'));
    table.remove_prefix(std::min(line.size() + 1, table.size()));
    if (line.find(pair) == std::string_view::npos) continue;
    if (word(line, 1) != in_table(*here) || word(line, 2) != in_table(*there)) continue;
    const auto uid = number(word(line, 7)), inode = number(word(line, 9));
    if (!uid || !inode || *inode == 0) return std::nullopt;
    return tcp_peer{*inode, static_cast<uid_t>(*uid)};
  }
  return std::nullopt;
}

std::optional<tcp_peer> peer_of(const tcp_ends& ends) {
  if (auto found = peer_by_diagnosis(ends)) return found;
  return peer_in_table(ends, read_file(ends.remote.ss_family == AF_INET6 ? "/proc/net/tcp6" : "/proc/net/tcp"));
}

bool holds_socket(pid_t pid, std::uint64_t inode) {
  const std::string folder = "/proc/" + std::to_string(pid) + "/fd", wanted = "socket:[" + std::to_string(inode) + "]";
  return any_number_in(folder, [&](std::uint64_t fd) {
    std::array<char, 64> target;
    const ssize_t n = ::readlink((folder + "/" + std::to_string(fd)).c_str(), target.data(), target.size());
    return n > 0 && std::string_view(target.data(), static_cast<std::size_t>(n)) == wanted;
  });
}

std::optional<pid_t> holder_of(std::uint64_t inode, std::span<const pid_t> likely) {
  for (const pid_t pid : likely)
    if (holds_socket(pid, inode)) return pid;
  std::optional<pid_t> found;
  any_number_in("/proc", [&](std::uint64_t pid) {
    if (!holds_socket(static_cast<pid_t>(pid), inode)) return false;
    found = static_cast<pid_t>(pid);
    return true;
  });
  return found;
}

}  // namespace mcpbx::mcp::socket

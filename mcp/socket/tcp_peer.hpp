// Which process is at the other end of a TCP connection of this machine. The kernel does not say it of TCP, but it has
// the peer's socket in its tables, and /proc has who holds that socket.
#pragma once
#include <netinet/in.h>
#include <sys/types.h>

#include <cstdint>
#include <optional>
#include <span>
#include <string_view>
#include <vector>

namespace mcpbx::mcp {

/// Both ends of a connection of this machine.
struct tcp_ends {
  sockaddr_storage local{}, remote{};
};
/// Of a connected socket; nullopt when it is none of TCP.
std::optional<tcp_ends> ends_of(int fd);

/// The socket at the other end.
struct tcp_peer {
  std::uint64_t inode = 0;
  uid_t uid = 0;
};
/// From the kernel's socket diagnosis. nullopt: there is none, its program has closed it, or the kernel has no such
/// diagnosis.
std::optional<tcp_peer> peer_by_diagnosis(const tcp_ends& ends);
/// From a table such as /proc/net/tcp.
std::optional<tcp_peer> peer_in_table(const tcp_ends& ends, std::string_view table);
/// From either.
std::optional<tcp_peer> peer_of(const tcp_ends& ends);

/// Whether a process has the socket open.
bool holds_socket(pid_t pid, std::uint64_t inode);
/// The first process that has it open, those of `likely` first. Reads the descriptors of all processes that may be
/// read: blocks for some milliseconds.
std::optional<pid_t> holder_of(std::uint64_t inode, std::span<const pid_t> likely = {});

}  // namespace mcpbx::mcp

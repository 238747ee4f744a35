// Identifies the process at the other end of a TCP connection of this machine. The kernel has no call for that, but its
// tables contain the peer's socket, and /proc the processes that hold it.
#pragma once
#include <netinet/in.h>
#include <sys/types.h>

#include <cstdint>
#include <optional>
#include <span>
#include <string_view>
#include <vector>

namespace mcpbx::mcp::socket {

/// Both ends of a connection of this machine.
struct tcp_ends {
  sockaddr_storage local{}, remote{};
};
/// Returns the ends of a connected socket; nullopt: it is no TCP socket.
std::optional<tcp_ends> ends_of(int fd);

/// The socket at the other end.
struct tcp_peer {
  std::uint64_t inode = 0;
  uid_t uid = 0;
};
/// Finds the peer by the kernel's socket diagnosis (netlink). nullopt: no such socket, or closed by its program, or the
/// kernel has no diagnosis.
std::optional<tcp_peer> peer_by_diagnosis(const tcp_ends& ends);
/// Finds the peer in a table such as /proc/net/tcp.
std::optional<tcp_peer> peer_in_table(const tcp_ends& ends, std::string_view table);
/// Finds the peer by diagnosis, or else in the tables.
std::optional<tcp_peer> peer_of(const tcp_ends& ends);

/// Returns true if a process has the socket open.
bool holds_socket(pid_t pid, std::uint64_t inode);
/// Finds a process that has the socket open, trying those of `likely` first. Reads the descriptors of all accessible
/// processes, which takes some milliseconds.
std::optional<pid_t> holder_of(std::uint64_t inode, std::span<const pid_t> likely = {});

}  // namespace mcpbx::mcp::socket

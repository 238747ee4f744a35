// Asks the kernel for the peer by SO_PEERCRED and SO_PEERPIDFD.
#include "mcp/socket/peer_process.hpp"

#include <fcntl.h>
#include <poll.h>
#include <sys/socket.h>

#include <cerrno>

#ifndef SO_PEERPIDFD
#define SO_PEERPIDFD 77
#endif

namespace mcpbx::mcp::socket {

peer_credentials peer_of(int fd, bool with_process) {
  ucred who{};
  socklen_t size = sizeof who;
  if (::getsockopt(fd, SOL_SOCKET, SO_PEERCRED, &who, &size) != 0)
    return {.uid = static_cast<uid_t>(-1), .pid = 0, .process = nullptr, .gone = true};
  peer_credentials peer{.uid = who.uid, .pid = who.pid};
  if (!with_process) return peer;
  int process = -1;
  size = sizeof process;
  if (::getsockopt(fd, SOL_SOCKET, SO_PEERPIDFD, &process, &size) == 0) {
    ::fcntl(process, F_SETFD, FD_CLOEXEC);
    peer.process = std::make_shared<const process::unique_fd>(process);
  } else {
    // After any other error, such as a lack of descriptors, the peer cannot be identified.
    peer.gone = errno != ENOPROTOOPT;
  }
  return peer;
}

bool still_there(const peer_credentials& peer) {
  if (!peer.process) return !peer.gone;
  // A pidfd becomes readable at the end of its process.
  pollfd ended{peer.process->get(), POLLIN, 0};
  return ::poll(&ended, 1, 0) == 0;
}

}  // namespace mcpbx::mcp::socket

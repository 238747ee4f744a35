// Identifies the process at the other end of a local connection.
#pragma once
#include "mcp/process/unique_fd.hpp"

#include <sys/types.h>

#include <memory>

namespace mcpbx::mcp::socket {

/// The peer of a connection. Its number alone may belong to another process by now.
struct peer_credentials {
  uid_t uid = 0;
  pid_t pid = 0;
  /// A pidfd of the process; null if the kernel has none for sockets (before 6.5).
  std::shared_ptr<const process::unique_fd> process = nullptr;
  bool gone = false;  ///< the process had ended when the kernel was asked, or the kernel did not answer
};

/// Returns the peer of a connected Unix socket; pid 0 and `gone` if it cannot be read. `with_process` false acts like
/// an older kernel, for tests.
peer_credentials peer_of(int fd, bool with_process = true);

/// Returns true if the process that connected still lives, so that facts read from /proc by its number are about it.
/// Without a pidfd it returns !gone, and the reader of /proc must judge by itself.
bool still_there(const peer_credentials& peer);

}  // namespace mcpbx::mcp::socket

// The process at the other end of a local connection, as the kernel names it.
#pragma once
#include "mcp/process/unique_fd.hpp"

#include <sys/types.h>

#include <memory>

namespace mcpbx::mcp {

/// Who connected. The number alone may be another process's by now.
struct peer_credentials {
  uid_t uid = 0;
  pid_t pid = 0;
  /// A pidfd of the process itself; null where the kernel has none for sockets (before 6.5).
  std::shared_ptr<const unique_fd> process = nullptr;
  bool gone = false;  ///< it had ended already when it was asked about, or the kernel would not say
};

/// The peer of a connected Unix socket; pid 0 and gone where that cannot be read. `with_process`: false as on an older
/// kernel.
peer_credentials peer_of(int fd, bool with_process = true);

/// Whether the process that connected lives, so that what was read of its number in between is about it. Where there is
/// no pidfd only whoever reads /proc can tell.
bool still_there(const peer_credentials& peer);

}  // namespace mcpbx::mcp

// How much memory processes take, as the kernel tells it.
#pragma once
#include <sys/types.h>

#include <cstdint>

namespace mcpbx::daemon {

/// Bytes of one process that are in memory (RSS); -1 where /proc does not tell.
std::int64_t resident_bytes(pid_t pid);
/// The same of a process with all that it started and that still belongs to it, the first 64 of them: a tool server is
/// often a launcher and the server below it. Pages that they share are counted in each. -1 where `root` is not told.
std::int64_t resident_bytes_of_tree(pid_t root);

}  // namespace mcpbx::daemon

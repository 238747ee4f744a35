// Memory use of processes, from /proc.
#pragma once
#include <sys/types.h>

#include <cstdint>

namespace mcpbx::daemon::front {

/// Returns the bytes of one process that are in memory (RSS), or -1 if unknown.
std::int64_t resident_bytes(pid_t pid);
/// Returns the bytes of a process and its first 64 descendants, because a tool server is often a launcher and the
/// server below it. Shared pages are counted in each. Returns -1 if `root` is unknown.
std::int64_t resident_bytes_of_tree(pid_t root);

}  // namespace mcpbx::daemon::front

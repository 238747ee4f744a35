// Starts one process by Boost.Process, with everything about it spelt out: three pipes, the given environment and
// directory, a process group and a mark of its own, default signals, no other descriptor.
#pragma once
#include "mcp/process/server_process.hpp"
#include "mcp/support/error.hpp"

#include <sys/resource.h>
#include <sys/types.h>

#include <string>

namespace mcpbx::mcp {

/// A started process and our ends of its pipes, which the caller owns.
struct spawned_process {
  pid_t pid = -1;
  int input = -1;   ///< write here: its stdin
  int output = -1;  ///< its stdout
  int errors = -1;  ///< its stderr
};

/// `program` is the file to execute, as find_program returned it. For the keeper only: single-threaded, so that the
/// pipe ends cannot leak into a concurrent fork and so that the death signal means the death of this process. `mark` is
/// what process_tree.hpp recognizes the tree by. The caller reaps.
result<spawned_process> spawn_process(const process_spec& spec, const std::string& program, rlim_t mark);

}  // namespace mcpbx::mcp

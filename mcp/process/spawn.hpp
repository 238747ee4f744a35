// Starts one process by Boost.Process: three pipes, the given environment and directory, a process group and a mark of
// its own, default signals, no other descriptor.
#pragma once
#include "mcp/process/server_process.hpp"
#include "mcp/support/error.hpp"

#include <sys/resource.h>
#include <sys/types.h>

#include <string>

namespace mcpbx::mcp::process {

/// A started process and our ends of its pipes, which the caller owns.
struct spawned_process {
  pid_t pid = -1;
  int input = -1;   ///< write end of its stdin
  int output = -1;  ///< read end of its stdout
  int errors = -1;  ///< read end of its stderr
};

/// Starts `program`, which find_program returned, with `mark` as its limit (process_tree.hpp). The caller reaps it. For
/// the keeper only: it is single-threaded, so that no other fork inherits the pipe ends.
result<spawned_process> spawn_process(const process_spec& spec, const std::string& program, rlim_t mark);

}  // namespace mcpbx::mcp::process

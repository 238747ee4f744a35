// Finds the program of a process_spec and names the reason if it cannot run. The system's own "No such file or
// directory" stands for a missing program, a missing interpreter and a missing working directory.
#pragma once
#include "mcp/process/server_process.hpp"
#include "mcp/support/error.hpp"

#include <string>

namespace mcpbx::mcp::process {

/// Returns the file to execute: argv[0] itself if it has a slash (relative to spec.directory), else its match in the
/// PATH of spec.environment. Fails with errc::not_found or errc::invalid_argument, also for spec.directory.
result<std::string> find_program(const process_spec& spec);

/// Returns the reason why executing `program`, which find_program returned, failed with `number` (an errno).
std::string explain_exec_failure(const std::string& program, int number);

}  // namespace mcpbx::mcp::process

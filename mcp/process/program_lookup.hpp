// Finds the program of a process_spec and, when it cannot run, says which of the many reasons it is: the system's own
// "No such file or directory" stands for a missing program, a missing interpreter and a missing working directory.
#pragma once
#include "mcp/process/server_process.hpp"
#include "mcp/support/error.hpp"

#include <string>

namespace mcpbx::mcp {

/// The file to execute: argv[0] itself when it has a slash (relative to spec.directory), else looked up in the PATH of
/// spec.environment. Checks the working directory, and that the file is executable. errc::not_found or
/// invalid_argument, with the cause.
result<std::string> find_program(const process_spec& spec);

/// Why executing `program`, which find_program returned, failed with `number` (errno).
std::string explain_exec_failure(const std::string& program, int number);

}  // namespace mcpbx::mcp

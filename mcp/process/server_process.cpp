// Formats the end of a process for people.
#include "mcp/process/server_process.hpp"

#include <string.h>

namespace mcpbx::mcp::process {

std::string process_exit::text() const {
  if (!signalled) return "exit status " + std::to_string(value);
  const char* name = ::sigabbrev_np(value);
  return "signal " + std::to_string(value) + (name ? " (SIG" + std::string(name) + ")" : std::string());
}

}  // namespace mcpbx::mcp::process

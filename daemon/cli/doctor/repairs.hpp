// Carries out the fixes that `mcpbx doctor --fix` offers. Each one checks again the file that it is about to change.
#pragma once
#include "daemon/cli/doctor/finding.hpp"
#include "daemon/cli/link/daemon_start.hpp"
#include "mcp/support/error.hpp"

#include <string>

namespace mcpbx::cli::doctor {

/// Returns the line that shows a repair before it is done, such as "chmod 600 /path".
std::string shown(const repair& r);

/// Carries it out. `place` selects the daemon for those that it does itself.
result<void> carry_out(const repair& r, const link::place& place);

}  // namespace mcpbx::cli::doctor

// `mcpbxd --examine`: looks at the journal and tries each address of the configuration, for `mcpbx doctor`. Starts
// nothing, runs no program of the configuration, and sends no key.
#pragma once
#include "daemon/app/process/options.hpp"

namespace mcpbx::daemon::app {

/// Prints what was found as one JSON object (README.md has its members). Takes 8 s at most unless a disk does not
/// answer. Returns 0, or exit_configuration without a usable configuration.
int examine(const process::command_line& o);

}  // namespace mcpbx::daemon::app

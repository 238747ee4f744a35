// The daemon: starts and stops all parts in order, with one io_context on one main thread.
#pragma once
#include "daemon/app/process/options.hpp"
#include "mcp/process/keeper/keeper.hpp"

namespace mcpbx::daemon::app {

/// Runs until the daemon is told to stop. `keeper` was forked before anything else. Returns the exit status: 0, 78 for
/// a wrong configuration, or 1 if the socket is taken.
int run_daemon(const process::command_line& o, mcp::keepers::keeper_handle keeper);

}  // namespace mcpbx::daemon::app

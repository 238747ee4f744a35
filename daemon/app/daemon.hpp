// The daemon: every part made from the configuration, started in order, stopped in order. One io_context, one thread
// that speaks.
#pragma once
#include "daemon/app/process/options.hpp"
#include "mcp/process/keeper/keeper.hpp"

namespace mcpbx::daemon {

/// Runs until it is told to stop. `keeper` was forked before anything else. Returns the exit status: 0, 78, or 1 when
/// the socket cannot be had.
int run_daemon(const command_line& o, mcp::keeper_handle keeper);

}  // namespace mcpbx::daemon

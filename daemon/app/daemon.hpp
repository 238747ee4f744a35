// The daemon: every part made from the configuration, started in order, stopped in order. One io_context, one thread
// that speaks.
#pragma once
#include "daemon/app/options.hpp"
#include "mcp/transport/keeper.hpp"

namespace mcpbx::daemon {

/// The exit status for a wrong configuration (EX_CONFIG of sysexits.h).
inline constexpr int exit_configuration = 78;

/// Checks the configuration and prints what is wrong or noteworthy. 0 or 78.
int check_configuration(const command_line& o);
/// Runs until it is told to stop. `keeper` was forked before anything else. Returns the exit status: 0, 78, or 1 when
/// the socket cannot be had.
int run_daemon(const command_line& o, mcp::keeper_handle keeper);

}  // namespace mcpbx::daemon

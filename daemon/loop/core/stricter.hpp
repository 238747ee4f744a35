// Merges two sets of limits into the stricter one, which applies to a run that is resumed after a restart.
#pragma once
#include "daemon/store/records/record.hpp"

namespace mcpbx::daemon::core {

/// Returns `mine` with the smaller of both values for each number ("no limit" is the largest), and the stricter of both
/// for approvals and onToolError. All else stays, also markResults and serverInstructions, because the run's system
/// prompt depends on them.
stored::run_limits stricter(stored::run_limits mine, const stored::run_limits& other);

}  // namespace mcpbx::daemon::core

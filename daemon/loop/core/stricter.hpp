// The stricter of two sets of limits: what a run that goes on after a restart is held to.
#pragma once
#include "daemon/store/records/record.hpp"

namespace mcpbx::daemon {

/// `mine`, but with the smaller one of each number (no limit is more than any), and asking for an approval, ending at a
/// failed tool or making no calls that need one where `other` does. Texts and what merely shows stay those of `mine`,
/// and so do marks around results: the run's system prompt has told the model of them, or has not.
run_limits stricter(run_limits mine, const run_limits& other);

}  // namespace mcpbx::daemon

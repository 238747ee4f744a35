// The options of the runner that come from the configuration.
#pragma once
#include "conf/model/model.hpp"
#include "daemon/loop/run/runner.hpp"

namespace mcpbx::daemon::options {

/// Returns the fate of detached runs at the daemon's stop, and awake_runs. The wiring adds what connects the runner
/// with other parts.
run::runner::options runner_options(const conf::model::configuration& config);

}  // namespace mcpbx::daemon::options

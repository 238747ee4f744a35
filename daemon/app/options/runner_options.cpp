// Values of the runner that hold from the daemon's start to its end; what may change between runs is in
// request_settings.
#include "daemon/app/options/runner_options.hpp"

#include "daemon/app/options/process_settings.hpp"

namespace mcpbx::daemon::options {

run::runner::options runner_options(const conf::model::configuration& config) {
  return {.resume_detached = config.loop.resume_detached, .awake_runs = awake_runs_here()};
}

}  // namespace mcpbx::daemon::options

// Options of the command line win over the configuration.
#include "daemon/app/options/process_settings.hpp"

#include <sched.h>

namespace mcpbx::daemon::options {

std::size_t awake_runs_here() {
  cpu_set_t usable;
  // This fails on machines with more CPUs than the set has places.
  const bool alone = ::sched_getaffinity(0, sizeof usable, &usable) == 0 && CPU_COUNT(&usable) == 1;
  return alone ? 0 : awake_runs;
}

log::level log_level_of(const process::command_line& o, const conf::model::configuration& config) {
  return o.log_level.value_or(static_cast<log::level>(config.log.level));
}

milliseconds idle_exit_of(const process::command_line& o, const conf::model::configuration& config, bool has_port) {
  return o.idle_exit && !has_port ? config.idle_exit_ms : milliseconds(0);
}

std::size_t byte_limit_of(const conf::model::configuration& config) {
  return static_cast<std::size_t>(config.limits.total_bytes);
}

}  // namespace mcpbx::daemon::options

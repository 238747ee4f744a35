// Values of the whole process, from its command line and the configuration.
#pragma once
#include "conf/model/model.hpp"
#include "daemon/app/process/options.hpp"
#include "mcp/support/log.hpp"
#include "mcp/support/time.hpp"

#include <cstddef>

namespace mcpbx::daemon::options {

/// The most runs that wait awake for an answer within microseconds (lane_journal, runner). Measured on two CPUs, where
/// a run of fast rounds takes half the time up to four, and nothing is gained with eight.
inline constexpr std::size_t awake_runs = 4;

/// Returns the same for this process: 0 if it may use one CPU only, because the lane, and tools that it starts, need
/// that one.
std::size_t awake_runs_here();

/// Returns the level of --log-level, else that of the configuration.
log::level log_level_of(const process::command_line& o, const conf::model::configuration& config);

/// Returns the time after which a daemon without callers and runs stops; 0: it does not. Only a daemon that the command
/// line started stops by itself, and none with an HTTP port, because callers by a port could not start it again.
milliseconds idle_exit_of(const process::command_line& o, const conf::model::configuration& config, bool has_port);

/// Returns the number of bytes that all requests together may own.
std::size_t byte_limit_of(const conf::model::configuration& config);

}  // namespace mcpbx::daemon::options

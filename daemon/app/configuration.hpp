// Loading and checking of this daemon's configuration, by its command line and environment.
#pragma once
#include "conf/config_files.hpp"
#include "daemon/app/process/options.hpp"

namespace mcpbx::daemon::app {

/// The exit status for a wrong configuration (EX_CONFIG of sysexits.h).
inline constexpr int exit_configuration = 78;

conf::file_options files_of(const process::command_line& o);
conf::loaded_files load_configuration(const process::command_line& o);
/// Checks the configuration and prints errors and notes. Returns 0 or exit_configuration.
int check_configuration(const process::command_line& o);

}  // namespace mcpbx::daemon::app

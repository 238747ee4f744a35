// The configuration of this daemon: found by its command line and environment, and checked.
#pragma once
#include "conf/config_files.hpp"
#include "daemon/app/process/options.hpp"

namespace mcpbx::daemon {

/// The exit status for a wrong configuration (EX_CONFIG of sysexits.h).
inline constexpr int exit_configuration = 78;

conf::file_options files_of(const command_line& o);
conf::loaded load_configuration(const command_line& o);
/// Checks the configuration and prints what is wrong or noteworthy. 0 or 78.
int check_configuration(const command_line& o);

}  // namespace mcpbx::daemon

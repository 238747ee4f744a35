// The process of a tool server: command, complete environment, directory.
#pragma once
#include "conf/model/model.hpp"
#include "mcp/process/server_process.hpp"
#include "mcp/support/error.hpp"

#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace mcpbx::daemon::references {

/// The process to run for an entry, with every reference resolved, in the directory `caller_cwd` if that is given.
/// Blocks when a reference reads a file or runs a command. Relative `cwd` and `envFile` start at $HOME. `own_folder` is
/// where the daemon's binary lies: the bundled toolbox is found there. The environment is PATH, HOME, USER, LOGNAME,
/// SHELL, TERM, LANG, TZ as the daemon has them, then `passEnv`, `envFile`, `env`, a later one winning, and nothing
/// else (G36).
result<mcp::process::process_spec> make_process_spec(const conf::model::server_entry& entry,
                                                     const std::string& own_folder, const std::string& caller_cwd = {});

/// The lines of an env file: NAME=value, optionally after `export `; blank lines and # comments are skipped; values may
/// stand in single or double quotes. errc::config names the line.
result<std::vector<std::pair<std::string, std::string>>> parse_env_file(std::string_view text, const std::string& path);

}  // namespace mcpbx::daemon::references

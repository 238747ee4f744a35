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

/// Returns the process to run for an entry, in `caller_cwd` if that is given; README.md has its environment. Blocks
/// when a reference reads a file or runs a command. The bundled toolbox lies in `own_folder`.
result<mcp::process::process_spec> make_process_spec(const conf::model::server_entry& entry,
                                                     const std::string& own_folder, const std::string& caller_cwd = {});

/// The lines of an env file: NAME=value, optionally after `export `; blank lines and # comments are skipped; values may
/// stand in single or double quotes. errc::config names the line.
result<std::vector<std::pair<std::string, std::string>>> parse_env_file(std::string_view text, const std::string& path);

}  // namespace mcpbx::daemon::references

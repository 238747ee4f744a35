// The command line of mcpbxd.
#pragma once
#include "mcp/support/log.hpp"

#include <optional>
#include <string>
#include <variant>

namespace mcpbx::daemon {

struct command_line {
  std::string config;                   ///< --config, or ""
  std::string socket;                   ///< --socket, or ""
  std::string http;                     ///< --http, or ""
  std::string log_file;                 ///< --log-file, or ""
  std::string private_folder;           ///< --private-folder, or "": removed at the end
  std::optional<log::level> log_level;  ///< --log-level; unset: the configuration's
  bool check_config = false;
  bool idle_exit = false;  ///< end after idleExitMs without callers or runs (a daemon the CLI started)
};

/// The options, or the exit status when there is nothing to run (help, version, a wrong option), already explained.
std::variant<command_line, int> parse_command_line(int argc, char** argv);

}  // namespace mcpbx::daemon

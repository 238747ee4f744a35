// The command line of mcpbxd.
#pragma once
#include "mcp/support/log.hpp"

#include <functional>
#include <optional>
#include <string>
#include <variant>
#include <vector>

namespace CLI {
class App;
}

namespace mcpbx::daemon::process {

struct command_line {
  std::string config;                   ///< --config, or ""
  std::string socket;                   ///< --socket, or ""
  std::string http;                     ///< --http, or ""
  std::string log_file;                 ///< --log-file, or ""
  std::string private_folder;           ///< --private-folder, or ""; removed at the end
  std::optional<log::level> log_level;  ///< --log-level; unset: the configuration's
  bool check_config = false;
  bool examine = false;                    ///< only try addresses and look at the journal, for `mcpbx doctor`
  std::vector<std::string> examined = {};  ///< the tool servers whose addresses that tries
  bool secret_service_key = false;         ///< only print the key that the Secret Service keeps for the daemon
  bool idle_exit = false;  ///< stop after idleExitMs without callers and runs (a daemon that the CLI started)
};

/// Returns the options, or the exit status if there is nothing to run (help, version, a wrong option); the text for the
/// user is printed already.
std::variant<command_line, int> parse_command_line(int argc, char** argv);

/// Calls `f` with the page of help, for the manual page made from it.
void with_options(const std::function<void(CLI::App&)>& f);

}  // namespace mcpbx::daemon::process

// Where things are: the socket, the state directory, the configuration. Pure: from variables to paths.
#pragma once
#include "conf/environment.hpp"
#include "mcp/support/error.hpp"

#include <filesystem>
#include <optional>
#include <string>
#include <string_view>

namespace mcpbx::conf {

/// The socket: `flag` (--socket) unless empty, $MCPBX_SOCKET, $XDG_RUNTIME_DIR/mcpbx/mcpbx.sock, else
/// ~/.local/state/mcpbx/mcpbx.sock. A relative path of a flag or variable is kept as it is.
/// errc::config: no place can be found, or the path is longer than the system's 107 bytes.
result<std::filesystem::path> socket_path(const environment& env, std::string_view flag = {});

/// Whether `socket_path` came from neither the flag nor $MCPBX_SOCKET: only there the CLI starts a daemon by itself.
bool default_socket(const environment& env, std::string_view flag = {});

/// $XDG_STATE_HOME/mcpbx, else ~/.local/state/mcpbx.
result<std::filesystem::path> state_directory(const environment& env);

/// $XDG_CONFIG_HOME/mcpbx, else ~/.config/mcpbx; nullopt without $HOME.
std::optional<std::filesystem::path> user_config_directory(const environment& env);

}  // namespace mcpbx::conf

// Paths of the socket, the state directory and the configuration, computed from environment variables. Only
// login_places_of() and environment_for_places() ask the system.
#pragma once
#include "conf/environment.hpp"
#include "mcp/support/error.hpp"

#include <sys/types.h>

#include <filesystem>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace mcpbx::conf {

/// The home and runtime directory of a login. They are looked up because MCP hosts often drop the variables HOME and
/// XDG_RUNTIME_DIR when they spawn a program.
struct login_places {
  std::string home;               ///< of the user's account, or ""
  std::string runtime_directory;  ///< /run/user/UID if it exists and belongs to the user, or ""
};
/// Looks both up in the user database and below `run`.
login_places login_places_of(uid_t user, const std::string& run = "/run/user");
/// Fills in HOME and XDG_RUNTIME_DIR where `env` lacks them. A HOME other than the login's means a separate setup (a
/// test, a sandbox), so it gets no runtime directory of the login.
environment with_places(environment env, const login_places& login);
/// Returns the variables of this process completed by with_places(). CLI, shim and daemon must agree on these.
environment environment_for_places();

/// Returns the places of the link `running`, which a daemon at the default socket points at its socket: the state
/// directory, and the one below HOME for programs that run without XDG_STATE_HOME.
std::vector<std::filesystem::path> running_links(const environment& env);

/// Returns the socket's path: `flag` (--socket) unless empty, $MCPBX_SOCKET, $XDG_RUNTIME_DIR/mcpbx/mcpbx.sock, else
/// ~/.local/state/mcpbx/mcpbx.sock. Relative paths are kept. errc::config: no place, or longer than 107 bytes.
result<std::filesystem::path> socket_path(const environment& env, std::string_view flag = {});

/// Returns true if neither the flag nor $MCPBX_SOCKET decides. The CLI starts a daemon by itself only then.
bool default_socket(const environment& env, std::string_view flag = {});

/// Returns $XDG_STATE_HOME/mcpbx, else ~/.local/state/mcpbx.
result<std::filesystem::path> state_directory(const environment& env);

/// Returns $XDG_CONFIG_HOME/mcpbx, else ~/.config/mcpbx; nullopt without $HOME.
std::optional<std::filesystem::path> user_config_directory(const environment& env);

}  // namespace mcpbx::conf

// Where things are: the socket, the state directory, the configuration. From variables to paths; only what
// login_places_of() gives is looked up.
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

/// The places of a login, also where its variables did not get through to this process: hosts that spawn programs
/// drop them.
struct login_places {
  std::string home;               ///< of the user's account, or ""
  std::string runtime_directory;  ///< /run/user/UID where it is there and the user's own, or ""
};
login_places login_places_of(uid_t user, const std::string& run = "/run/user");
/// `env` with HOME and XDG_RUNTIME_DIR as the login has them where they are not set. With a HOME of its own it is
/// another world, and has no runtime directory unless it says so.
environment with_places(environment env, const login_places& login);
/// The variables of this process, so completed: where it looks for what the CLI, the shim and the daemon share.
environment environment_for_places();

/// Where a daemon at the default socket leaves a link to that, and others look for it: in the state directory, and in
/// that of HOME alone, which is the same for who has not got XDG_STATE_HOME.
std::vector<std::filesystem::path> running_links(const environment& env);

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

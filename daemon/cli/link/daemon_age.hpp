// Detects an outdated daemon: one that was started before a key was exported or a configuration was changed.
#pragma once
#include "daemon/cli/link/daemon_connection.hpp"
#include "mcp/json/raw_json.hpp"
#include "mcp/process/unique_fd.hpp"

#include <functional>
#include <optional>
#include <string>
#include <string_view>

namespace mcpbx::cli::link {

/// Returns the value of a variable; nullopt: unset.
using variable_source = std::function<std::optional<std::string>(std::string_view name)>;

/// A difference between the daemon's world and this program's.
struct daemon_news {
  std::string text;           ///< a clause ("config.json has changed since the daemon read it"), or ""
  bool reload_helps = false;  ///< the daemon only needs to read its files again
};
/// Compares them. `hello` is the daemon's introduction, `here` and `there` are the variables of this process and of the
/// daemon.
daemon_news what_is_new(const json::raw_json& hello, const variable_source& here, const variable_source& there);
/// Returns the variables that a process was started with; nullopt if /proc does not tell. The daemon belongs to the
/// same user, so the values need not travel over the socket.
std::optional<variable_source> variables_of(std::int64_t pid);
variable_source own_variables();

/// Waits for the end of a daemon after a request to stop.
class daemon_end {
 public:
  /// Make it before the request. `hello` names the daemon's process. If that is not visible from here, the end of the
  /// connection counts.
  daemon_end(const daemon_connection& link, const json::raw_json& hello);
  /// Returns false if the daemon still runs after 12 s. It takes at most 10 s to stop.
  bool wait() const;

 private:
  int link_;
  mcp::process::unique_fd process_;
};

/// Returns the process at the other end of a connection if its number is `pid`, else -1: in a container processes have
/// other numbers, and with socket activation another process made the socket.
std::int64_t seen_process(const daemon_connection& link, std::int64_t pid);

/// Returns true if systemd made the socket at the other end, so that a connection may have started the daemon.
bool is_socket_of_systemd(const daemon_connection& link);

}  // namespace mcpbx::cli::link

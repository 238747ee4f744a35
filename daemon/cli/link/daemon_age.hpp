// A daemon that was started in another world: before a key was exported, or a configuration was changed.
#pragma once
#include "daemon/cli/link/daemon_connection.hpp"
#include "mcp/json/raw_json.hpp"
#include "mcp/process/unique_fd.hpp"

#include <functional>
#include <optional>
#include <string>
#include <string_view>

namespace mcpbx::cli {

/// The value of a variable; nullopt: unset.
using variable_source = std::function<std::optional<std::string>(std::string_view name)>;

/// What of this program's world the daemon does not know, as a clause ("config.json has changed since the daemon was
/// started"), or
/// "". `hello` is what it said of itself, `here` the variables of this process, `there` its own. Pure.
std::string what_is_new(const raw_json& hello, const variable_source& here, const variable_source& there);
/// The variables that a process was started with; none where they cannot be read. The daemon is ours, so its values
/// need not come over the socket.
std::optional<variable_source> variables_of(std::int64_t pid);
variable_source own_variables();

/// Waits for the end of a daemon that was told to stop.
class daemon_end {
 public:
  /// To be made before it is told. `hello` names its process; of one that cannot be seen from here the connection tells
  /// the end.
  daemon_end(const connection& link, const raw_json& hello);
  /// False: it is still there after 12 s. It takes 10 s at most.
  bool wait() const;

 private:
  int link_;
  mcp::unique_fd process_;
};

/// The process at the other end of a connection that calls itself `pid`; -1 where that is another one here: it has its
/// own numbers in a container, and with socket activation the socket is somebody else's.
std::int64_t seen_process(const connection& link, std::int64_t pid);

}  // namespace mcpbx::cli

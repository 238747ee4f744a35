// Identity of this daemon among those that share a journal.
#pragma once
#include "conf/environment.hpp"
#include "mcp/support/error.hpp"

#include <string>

namespace mcpbx::daemon::process {

/// Returns 32 hexadecimal digits that belong to the state directory, from its file daemon-id, which is created if
/// missing. Blocks. errc::config: there is no state directory; errc::io.
result<std::string> daemon_identity(const conf::environment& env);

/// Returns a new identity each time, for a private daemon.
std::string passing_identity();

/// Returns an identity of the machine's present boot, or "" if the system does not provide one.
std::string boot_identity();

/// Returns a name of this process for people: "mcpbxd 4711 on HOST".
std::string daemon_label();

}  // namespace mcpbx::daemon::process

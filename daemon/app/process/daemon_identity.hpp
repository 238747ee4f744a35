// Who this daemon is among those that share a journal.
#pragma once
#include "conf/environment.hpp"
#include "mcp/support/error.hpp"

#include <string>

namespace mcpbx::daemon {

/// 32 hexadecimal digits, the same for every daemon with this state directory and for no other: from its file
/// daemon-id, which is made when it is not there. Blocking. errc::config without a state directory, errc::io.
result<std::string> daemon_identity(const conf::environment& env);

/// A new one each time, for a daemon that comes and goes beside the usual one.
std::string passing_identity();

/// Names the present start of this machine: another one after each. "" where the system does not say.
std::string boot_identity();

/// How people find this process: "mcpbxd 4711 on HOST".
std::string daemon_label();

}  // namespace mcpbx::daemon

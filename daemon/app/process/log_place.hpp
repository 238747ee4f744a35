// Tells where the daemon's log goes, for people who look for it.
#pragma once
#include "mcp/json/json_writer.hpp"

namespace mcpbx::daemon::process {

/// Writes the members `to` ("file", "journal", "terminal" or "stderr"), `pid`, and as far as they are known `file`, and
/// `unit` with `user` (true for a unit of the person's own systemd).
void tell_log_place(json::json_writer& out);

}  // namespace mcpbx::daemon::process

// The calls that a caller may make itself, whatever protocol it speaks.
#pragma once
#include "daemon/front/base/door_context.hpp"
#include "mcp/server/caller_host.hpp"
#include "mcp/support/error.hpp"

#include <string>

namespace mcpbx::daemon {

/// Fails if no new calls are taken: the daemon is stopping.
result<void> admit_call(const door_context& door);
/// Fails if this principal may not call the tool: a tool server is no person, and nobody could be asked for an
/// approval.
result<void> admit_call(const door_context& door, const std::string& principal, const mcp::catalog_entry& tool);

}  // namespace mcpbx::daemon

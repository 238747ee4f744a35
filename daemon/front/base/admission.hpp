// The calls that a caller may make itself, whatever protocol it speaks.
#pragma once
#include "daemon/front/base/door_context.hpp"
#include "mcp/server/base/caller_host.hpp"
#include "mcp/support/error.hpp"

#include <string>
#include <string_view>

namespace mcpbx::daemon::front {

/// Fails if no new calls are taken: the daemon is stopping.
result<void> admit_call(const door_context& door);
/// Fails if this principal may not call the tool: a tool server is no person, and nobody could be asked for an
/// approval.
result<void> admit_call(const door_context& door, const std::string& principal,
                        const mcp::catalogs::catalog_entry& tool);
/// Fails if this principal may not read the prompt or resource that the server knows as `own`, for the same reason.
result<void> admit_read(const door_context& door, const std::string& principal, const mcp::protocol::feature_kind& kind,
                        std::string_view server, std::string_view own);
/// Returns true if this principal may use methods of extensions: a tool server may not, since no approval could hold
/// for them.
bool may_use_extensions(const std::string& principal);
/// Fails if it may not.
result<void> admit_extension(const std::string& principal, std::string_view method);

}  // namespace mcpbx::daemon::front

// Accept header of a request (RFC 9110, section 12.5.1), as far as MCP needs it: is a type of content acceptable? Pure.
#pragma once
#include "mcp/http/header.hpp"

#include <string_view>
#include <vector>

namespace mcpbx::daemon::mcp_door {

/// Returns true if one of the Accept headers names `type` ("application/json") or a range that has it, and not with
/// `q=0`. Without such a header nothing is acceptable: MCP demands it.
bool accepts(const std::vector<http::header>& headers, std::string_view type);

/// Returns true if the Accept headers name event streams before JSON: such a caller gets a stream where both would do.
bool prefers_stream(const std::vector<http::header>& headers);

}  // namespace mcpbx::daemon::mcp_door

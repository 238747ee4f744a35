// Conversion of Chat Completions messages to the daemon's own. Pure.
#pragma once
#include "daemon/front/dialects/dialect_request.hpp"
#include "mcp/json/raw_json.hpp"
#include "providers/model/message.hpp"

#include <expected>
#include <vector>

namespace mcpbx::daemon::completions {

/// Converts each message; consecutive `tool` messages become one. Every call must be followed by its result, and every
/// result must have a call.
std::expected<std::vector<providers::message_ptr>, dialects::request_fault> read_completion_messages(
    const json::raw_json& list);

}  // namespace mcpbx::daemon::completions

// Conversion of the messages and content blocks of Anthropic's Messages API to the daemon's own. Pure.
#pragma once
#include "daemon/front/dialects/dialect_request.hpp"
#include "mcp/json/raw_json.hpp"
#include "providers/model/message.hpp"

#include <expected>
#include <vector>

namespace mcpbx::daemon::messages {

/// Converts the system prompt (a string, text blocks or absent) and each message. Consecutive messages of one role
/// become one. Thinking blocks of earlier answers are left out: a run that goes on still has them, with their
/// signatures. Every tool_use must be followed by its tool_result.
std::expected<std::vector<providers::message_ptr>, dialects::request_fault> read_messages_content(
    const json::raw_json& system, const json::raw_json& list);

}  // namespace mcpbx::daemon::messages

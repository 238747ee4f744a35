// Conversion of the input items of OpenAI's Responses API to the daemon's messages. Pure.
#pragma once
#include "daemon/front/responses/response_request.hpp"
#include "providers/model/message.hpp"

#include <expected>
#include <string>
#include <vector>

namespace mcpbx::daemon::responses {

/// Converts `instructions` (a system prompt, or "") and `input` (a string or an array of items). Consecutive items of
/// the assistant become one message. Reasoning items are left out: a run that goes on still has them. Every
/// function_call must be followed by its output; with `after_response` outputs may come without their calls.
std::expected<std::vector<providers::message_ptr>, dialects::request_fault> read_response_items(
    std::string instructions, const json::raw_json& input, bool after_response, const item_source& items);

}  // namespace mcpbx::daemon::responses

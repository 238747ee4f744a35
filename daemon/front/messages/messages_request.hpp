// Conversion of a request of Anthropic's Messages API into a run request. Unknown members are ignored, as that API's
// clients expect; errors in known ones name their place. Pure.
#pragma once
#include "daemon/front/chat/chat_params.hpp"
#include "daemon/front/dialects/dialect_request.hpp"
#include "mcp/json/raw_json.hpp"

#include <expected>

namespace mcpbx::daemon::messages {

struct messages_request : dialects::dialect_request {
  bool shows_thinking = false;  ///< the answer has the model's reasoning as thinking blocks
};

/// Reads `request`, a whole JSON text.
std::expected<messages_request, dialects::request_fault> read_messages_request(const json::raw_json& request,
                                                                               const chat::chat_defaults& defaults);

}  // namespace mcpbx::daemon::messages

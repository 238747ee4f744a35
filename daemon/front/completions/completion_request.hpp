// Conversion of a Chat Completions request into a run request. Unknown members are ignored, as that API's clients
// expect; errors in known ones name their place. Pure.
#pragma once
#include "daemon/front/chat/chat_params.hpp"
#include "daemon/front/dialects/dialect_request.hpp"
#include "mcp/json/raw_json.hpp"

#include <expected>

namespace mcpbx::daemon::completions {

struct completion_request : dialects::dialect_request {
  bool include_usage = false;  ///< the stream ends with the token usage
};

/// Reads `request`, a whole JSON text.
std::expected<completion_request, dialects::request_fault> read_completion(const json::raw_json& request,
                                                                           const chat::chat_defaults& defaults);

}  // namespace mcpbx::daemon::completions

// Conversion of a request of OpenAI's Responses API into a run request. Unknown members are ignored, as that API's
// clients expect; errors in known ones name their place. Pure.
#pragma once
#include "daemon/front/chat/chat_params.hpp"
#include "daemon/front/dialects/dialect_request.hpp"
#include "mcp/json/raw_json.hpp"

#include <expected>
#include <functional>
#include <string>
#include <string_view>

namespace mcpbx::daemon::responses {

struct response_request : dialects::dialect_request {
  std::string previous;          ///< the response that this one goes on from (previous_response_id), or ""
  bool shows_reasoning = false;  ///< the answer has the model's reasoning as summaries
  std::string echo;              ///< members of the request that each response object repeats, as JSON with commas
};

/// Returns the item of an earlier response by its id, or an absent value.
using item_source = std::function<json::raw_json(std::string_view id)>;

/// Reads `request`, a whole JSON text. `continues` is set if all that it says is results for the response `previous`.
std::expected<response_request, dialects::request_fault> read_response_request(const json::raw_json& request,
                                                                               const chat::chat_defaults& defaults,
                                                                               const item_source& items);

/// Returns the name of the run behind a response id, or "".
std::string run_of_response(std::string_view id);

}  // namespace mcpbx::daemon::responses

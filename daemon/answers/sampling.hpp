// Converts sampling/createMessage of a tool server into a request to a model of ours, and the reply into its result
// (2025-11-25 and 2026-07-28, Sampling). Pure.
#pragma once
#include "mcp/json/raw_json.hpp"
#include "mcp/support/error.hpp"
#include "providers/model/message.hpp"

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace mcpbx::daemon::answers {

/// Bounds of one request.
inline constexpr std::size_t most_sampling_bytes = std::size_t{8} << 20, most_sampling_messages = 1'000,
                             most_sampling_tools = 128;

/// A request that a model can be asked.
struct sampling_request {
  providers::model_request ask;
  std::vector<std::string> shown, own;  ///< names of its tools: as the model sees them, and the server's
};

/// Reads the params. `max_tokens`: of the answer, at most. `api`: that of the model, to which tools are adapted.
/// errc::invalid_argument or errc::limit with a clause for the server: a member of a wrong form, results without their
/// calls or calls without results, a tool that the API cannot take.
result<sampling_request> read_sampling(const json::raw_json& params, std::int64_t max_tokens, std::string_view api);

/// Returns the CreateMessageResult of a reply. `model`: the provider's id of the model. errc::peer: the model refused
/// to answer, or its answer has nothing to pass on.
result<json::raw_json> sampling_result(const providers::model_reply& reply, const sampling_request& asked,
                                       std::string_view model);

}  // namespace mcpbx::daemon::answers

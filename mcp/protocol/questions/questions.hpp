// Questions of tool servers (elicitation, sampling, roots) on their way to the caller whose call they belong to, which
// may speak the other era.
#pragma once
#include "mcp/json/raw_json.hpp"
#include "mcp/support/error.hpp"

#include <string>
#include <string_view>

namespace mcpbx::mcp::questions {

/// The methods that a tool server may ask with.
bool is_question(std::string_view method);

/// Returns the params of a question as its caller's era has them: `_meta` names the server, with this progress token or
/// none; `elicitation_id` is for legacy callers. errc::invalid_argument, errc::limit: the params cannot be read.
result<json::raw_json> question_params(const json::raw_json& params, std::string_view server, bool modern_caller,
                                       const std::string& elicitation_id, std::string_view progress_token = {});

/// Returns the answer for a question that nobody answers: an elicitation is declined, which is a result; for other
/// questions there is only an error. `error`: set to whether it is one.
json::raw_json declined_answer(std::string_view method, bool& error);

}  // namespace mcpbx::mcp::questions

// Errors in the form of OpenAI's API, which also those paths have that no other API describes.
#pragma once
#include "daemon/front/dialects/dialect_request.hpp"
#include "mcp/http/server/server_connection.hpp"

#include <string>
#include <string_view>
#include <vector>

namespace mcpbx::daemon::dialects {

/// Returns the word for an error's `type`.
std::string_view openai_error_type(int status);
/// Returns {"error": {message, type, param, code}}.
std::string openai_error_body(const request_fault& f);
/// Returns the answer with the status and the body of `f`; Content-Type stands behind `headers`.
http::servers::server_answer error_answer(const request_fault& f, std::vector<http::header> headers = {});

}  // namespace mcpbx::daemon::dialects

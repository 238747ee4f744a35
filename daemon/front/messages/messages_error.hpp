// Errors in the form of Anthropic's API.
#pragma once
#include "daemon/front/dialects/dialect_request.hpp"
#include "mcp/http/server/server_connection.hpp"

#include <string>
#include <string_view>
#include <vector>

namespace mcpbx::daemon::messages {

/// Returns the word for the `type` of an error.
std::string_view messages_error_type(int status);
/// Returns {"type": "error", "error": {type, message, param?}}; `param` is an addition of ours.
std::string messages_error_body(const dialects::request_fault& f);
/// Returns the answer with the status and the body of `f`; Content-Type stands behind `headers`.
http::servers::server_answer messages_error_answer(const dialects::request_fault& f,
                                                   std::vector<http::header> headers = {});

}  // namespace mcpbx::daemon::messages

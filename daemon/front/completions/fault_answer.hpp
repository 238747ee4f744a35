// Conversion of a fault into an HTTP answer.
#pragma once
#include "daemon/front/completions/completion_request.hpp"
#include "mcp/http/server/server_connection.hpp"

#include <vector>

namespace mcpbx::daemon {

/// Returns the answer with the status and the body of `f`; Content-Type stands behind `headers`.
http::server_answer error_answer(const completion_fault& f, std::vector<http::header> headers = {});

}  // namespace mcpbx::daemon

// The body of a request as JSON.
#pragma once
#include "daemon/front/dialects/dialect_request.hpp"
#include "daemon/front/exchange/exchange.hpp"
#include "mcp/json/raw_json.hpp"

#include <expected>

namespace mcpbx::daemon::dialects {

/// Takes the body out of the exchange, which must be open, checks that it is one JSON text within the configured depth,
/// and returns it without line breaks, because parts of it are passed on in messages of one line.
std::expected<json::raw_json, request_fault> json_body(routes::exchange& x);

}  // namespace mcpbx::daemon::dialects

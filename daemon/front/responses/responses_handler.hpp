// Handler of POST /v1/responses.
#pragma once
#include "daemon/front/exchange/exchange.hpp"

#include <memory>

namespace mcpbx::daemon::responses {

/// Answers a request of the Responses API with a run, or refuses it when its body is no such request.
void handle_response(const std::shared_ptr<routes::exchange>& x);

}  // namespace mcpbx::daemon::responses

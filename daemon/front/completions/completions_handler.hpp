// Handler of POST /v1/chat/completions.
#pragma once
#include "daemon/front/exchange/exchange.hpp"

#include <memory>

namespace mcpbx::daemon::completions {

/// Answers a request of Chat Completions with a run, or refuses it when its body is no such request.
void handle_completion(const std::shared_ptr<routes::exchange>& x);

}  // namespace mcpbx::daemon::completions

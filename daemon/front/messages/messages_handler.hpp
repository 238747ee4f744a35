// Handlers of POST /v1/messages and its neighbour that counts tokens.
#pragma once
#include "daemon/front/exchange/exchange.hpp"

#include <memory>

namespace mcpbx::daemon::messages {

/// Answers a request of the Messages API with a run, or refuses it when its body is no such request.
void handle_message(const std::shared_ptr<routes::exchange>& x);
/// Refuses: only a model's own API can count its tokens in advance.
void handle_count_tokens(const std::shared_ptr<routes::exchange>& x);

}  // namespace mcpbx::daemon::messages

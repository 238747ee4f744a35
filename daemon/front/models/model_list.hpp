// GET /v1/models and GET /v1/models/NAME: the configured models and the profiles, in the words of OpenAI's API.
#pragma once
#include "daemon/front/base/exchange.hpp"

#include <memory>

namespace mcpbx::daemon {

/// Answers with all of them.
void handle_model_list(const std::shared_ptr<exchange>& x);
/// Answers with the one that the path names, or 404.
void handle_model(const std::shared_ptr<exchange>& x);

}  // namespace mcpbx::daemon

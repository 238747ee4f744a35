// Handlers of GET /v1/models and GET /v1/models/NAME: the configured models and profiles in OpenAI's format.
#pragma once
#include "daemon/front/exchange/exchange.hpp"

#include <memory>

namespace mcpbx::daemon::model_routes {

/// Answers with all models.
void handle_model_list(const std::shared_ptr<routes::exchange>& x);
/// Answers with the model that the path names, or 404.
void handle_model(const std::shared_ptr<routes::exchange>& x);

}  // namespace mcpbx::daemon::model_routes

// Answers with the configured models and profiles as JSON.
#include "daemon/front/models/models_handler.hpp"

#include "daemon/front/base/door_context.hpp"
#include "daemon/front/completions/completion_json.hpp"
#include "daemon/front/dialects/openai_error.hpp"
#include "daemon/front/dialects/run_outcome.hpp"
#include "mcp/redact/hidden_text.hpp"
#include "mcp/support/text.hpp"

#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace mcpbx::daemon::model_routes {
namespace {

using chosen_name = std::optional<std::string>;

void answer_with(routes::exchange& x, std::vector<std::string> names, const chosen_name& only) {
  const auto& door = x.door();
  for (auto& profile : door.settings.chat()->profiles()) names.push_back("profile:" + profile);
  auto json = completions::completion_json::models(names, door.started_wall_ms / 1000, only);
  if (json) return x.answer({200, {{"Content-Type", "application/json"}}, std::move(*json)});
  x.refuse(dialects::error_answer({404,
                                   "No model is called " + json::json_quoted(redact::printable(cut_utf8(*only, 200))) +
                                       "; GET /v1/models lists them.",
                                   "model", "model_not_found"}));
}

void list(const std::shared_ptr<routes::exchange>& x, chosen_name only) {
  auto* const models = x->door().daemon.models();
  if (models == nullptr) return answer_with(*x, {}, only);
  models->list("", false, [x, only = std::move(only)](const result<std::vector<front::model_row>>& rows) {
    if (!x->open()) return;
    if (!rows) return x->refuse(dialects::error_answer(dialects::fault_of(rows.error())));
    std::vector<std::string> names;
    for (const auto& r : *rows) names.push_back(r.name);
    answer_with(*x, std::move(names), only);
  });
}

}  // namespace

void handle_model_list(const std::shared_ptr<routes::exchange>& x) {
  list(x, std::nullopt);
}

void handle_model(const std::shared_ptr<routes::exchange>& x) {
  list(x, x->parameter());
}

}  // namespace mcpbx::daemon::model_routes

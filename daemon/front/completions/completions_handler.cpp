// One request of Chat Completions: its body, then its run.
#include "daemon/front/completions/completions_handler.hpp"

#include "daemon/front/base/door_context.hpp"
#include "daemon/front/completions/completion_request.hpp"
#include "daemon/front/completions/completion_writer.hpp"
#include "daemon/front/dialects/answered_run.hpp"
#include "daemon/front/dialects/json_body.hpp"
#include "daemon/front/dialects/openai_error.hpp"

#include <utility>

namespace mcpbx::daemon::completions {

void handle_completion(const std::shared_ptr<routes::exchange>& x) {
  const auto body = dialects::json_body(*x);
  if (!body) return x->refuse(dialects::error_answer(body.error()));
  auto request = read_completion(*body, *x->door().settings.chat());
  if (!request) return x->refuse(dialects::error_answer(request.error()));
  auto writer = std::make_unique<completion_writer>(request->include_usage);
  dialects::answered_run::start(x, std::move(*request), std::move(writer));
}

}  // namespace mcpbx::daemon::completions

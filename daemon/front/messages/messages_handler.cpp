// One request of the Messages API: its body, then its run.
#include "daemon/front/messages/messages_handler.hpp"

#include "daemon/front/base/door_context.hpp"
#include "daemon/front/dialects/answered_run.hpp"
#include "daemon/front/dialects/json_body.hpp"
#include "daemon/front/messages/message_writer.hpp"
#include "daemon/front/messages/messages_error.hpp"
#include "daemon/front/messages/messages_request.hpp"

#include <utility>

namespace mcpbx::daemon::messages {

void handle_message(const std::shared_ptr<routes::exchange>& x) {
  const auto body = dialects::json_body(*x);
  if (!body) return x->refuse(messages_error_answer(body.error()));
  auto request = read_messages_request(*body, *x->door().settings.chat());
  if (!request) return x->refuse(messages_error_answer(request.error()));
  auto writer = std::make_unique<message_writer>(request->shows_thinking);
  dialects::answered_run::start(x, std::move(*request), std::move(writer));
}

void handle_count_tokens(const std::shared_ptr<routes::exchange>& x) {
  x->refuse(messages_error_answer({404,
                                   "mcpbx counts no tokens in advance, because the tools of its servers are part of "
                                   "the prompt; the answer of POST /v1/messages has the usage",
                                   "", "not_found"}));
}

}  // namespace mcpbx::daemon::messages

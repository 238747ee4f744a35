// Check that a body is complete JSON, before it is read as a request.
#include "daemon/front/completions/completions_handler.hpp"

#include "daemon/front/base/door_context.hpp"
#include "daemon/front/completions/completion.hpp"
#include "daemon/front/completions/fault_answer.hpp"
#include "mcp/json/json_scanner.hpp"
#include "mcp/support/text.hpp"
#include "providers/model/arguments.hpp"

#include <cstddef>
#include <string>
#include <utility>

namespace mcpbx::daemon {

void handle_completion(const std::shared_ptr<exchange>& x) {
  const auto& settings = x->door().settings;
  const auto body = x->take_body();
  const auto text = trimmed(body.view());
  std::size_t place = 0;
  const auto fault = check_json(text, settings.framing.max_depth, &place);
  if (fault != json_scanner::fault::none)
    return x->refuse(error_answer({400,
                                   "body: expected JSON, and it is none from byte " + std::to_string(place) +
                                       " on: " + std::string(to_string(fault)) + ".",
                                   "", "invalid_json"}));
  // Removes line breaks, because parts of the body are passed on in messages of one line.
  const auto whole = providers::on_one_line(raw_json::trusted(body, text));
  auto request = read_completion(whole, *settings.chat());
  if (!request) return x->refuse(error_answer(request.error()));
  const auto going = std::make_shared<completion>(x, std::move(*request));
  x->keep(going);
  going->start();
}

}  // namespace mcpbx::daemon

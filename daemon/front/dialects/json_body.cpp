// Check that a body is complete JSON, before it is read as a request.
#include "daemon/front/dialects/json_body.hpp"

#include "daemon/front/base/door_context.hpp"
#include "mcp/json/json_scanner.hpp"
#include "mcp/support/text.hpp"
#include "providers/model/arguments.hpp"

#include <cstddef>
#include <string>

namespace mcpbx::daemon::dialects {

std::expected<json::raw_json, request_fault> json_body(routes::exchange& x) {
  const auto body = x.take_body();
  const auto text = trimmed(body.view());
  std::size_t place = 0;
  const auto fault = json::check_json(text, x.door().settings.framing.max_depth, &place);
  if (fault != json::json_scanner::fault::none)
    return std::unexpected(request_fault{400,
                                         "body: expected JSON, and it is none from byte " + std::to_string(place) +
                                             " on: " + std::string(json::to_string(fault)) + ".",
                                         "", "invalid_json"});
  return providers::on_one_line(json::raw_json::trusted(body, text));
}

}  // namespace mcpbx::daemon::dialects

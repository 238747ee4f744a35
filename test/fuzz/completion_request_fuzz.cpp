// Requests of Chat Completions: whatever the JSON is, there is a run that can be started, or a fault with its place.
#include "daemon/front/completions/completion_request.hpp"
#include "mcp/json/raw_json.hpp"

#include <cstdint>
#include <cstdlib>
#include <string_view>

namespace {

void require(bool holds) {
  if (!holds) std::abort();
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const auto json = mcpbx::raw_json::parse({reinterpret_cast<const char*>(data), size});
  if (!json) return 0;
  static const mcpbx::daemon::chat_defaults defaults;
  const auto request = mcpbx::daemon::read_completion(*json, defaults);
  if (!request) {
    require(request.error().status >= 400 && !request.error().message.empty() && !request.error().param.empty());
    return 0;
  }
  require(!request->run.messages.empty());
  require(request->run.limits.approve != mcpbx::daemon::approval_mode::ask);
  const auto again = mcpbx::daemon::read_completion(*json, defaults);
  require(again && again->conversation == request->conversation &&
          again->conversation_before == request->conversation_before);
  return 0;
}

// Checks of a dialect reader: a request can be started or has a fault with its place, the same each time.
// time.
#pragma once
#include "daemon/front/chat/chat_params.hpp"
#include "daemon/front/dialects/dialect_request.hpp"
#include "mcp/json/raw_json.hpp"

#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <string_view>

namespace mcpbx::test {

inline void require(bool holds) {
  if (!holds) std::abort();
}

template <class Read>
int fuzz_dialect(const std::uint8_t* data, std::size_t size, Read&& read) {
  const auto json = json::raw_json::parse({reinterpret_cast<const char*>(data), size});
  if (!json) return 0;
  static const daemon::chat::chat_defaults defaults;
  const auto request = read(*json, defaults);
  if (!request) {
    require(request.error().status >= 400 && !request.error().message.empty() && !request.error().param.empty());
    return 0;
  }
  require(!request->run.messages.empty());
  require(request->run.limits.approve != daemon::stored::approval_mode::ask);
  const auto again = read(*json, defaults);
  require(again && again->conversation == request->conversation &&
          again->conversation_before == request->conversation_before);
  return 0;
}

}  // namespace mcpbx::test

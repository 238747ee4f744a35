// Copies small pieces of a body into blocks and leaves large ones as they are.
#include "mcp/http/client/gathered.hpp"

#include <algorithm>
#include <cstddef>

namespace mcpbx::http::clients {

json::segments gathered(const json::segments& body) {
  constexpr std::size_t small = 4096, block = std::size_t{64} << 10;
  json::segments out;
  byte_buffer copied;
  std::size_t left = body.size();
  const auto flush = [&] {
    if (copied.size() > 0) out.append(json::raw_json::whole(copied.take()));
  };
  for (const json::raw_json& piece : body.pieces()) {
    const auto text = piece.text();
    if (text.size() >= small || copied.size() + text.size() > block) flush();
    if (text.size() >= small) {
      out.append(piece);
    } else {
      if (copied.size() == 0) copied.reserve(std::min(left, block));
      copied.append(text);
    }
    left -= text.size();
  }
  flush();
  return out;
}

}  // namespace mcpbx::http::clients

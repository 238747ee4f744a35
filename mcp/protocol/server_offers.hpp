// Capabilities that a tool server declares in `initialize` or `server/discover`, as far as they decide what mcpbx may
// ask of it and what it may declare to its own callers (2025-11-25 and 2026-07-28, ServerCapabilities).
#pragma once
#include "mcp/json/raw_json.hpp"

#include <cstddef>

namespace mcpbx::mcp::protocol {

/// Bound on `tasks`, `extensions` and `experimental` of a server in bytes. A longer one counts as absent, since these
/// are looked at with each call.
inline constexpr std::size_t most_bytes_of_an_offer = std::size_t{16} << 10;

struct server_offers {
  bool known = false;  ///< false: the server has never told; all others are false then
  bool tools = false, prompts = false, resources = false;
  bool subscribe = false;  ///< resources may be subscribed to
  bool completions = false;
  bool logging = false;
  json::raw_json tasks;         ///< the member of 2025-11-25, or absent
  json::raw_json extensions;    ///< the member of 2026-07-28, or absent
  json::raw_json experimental;  ///< an object, or absent
};

/// Reads ServerCapabilities. A member that is no object declares nothing.
server_offers read_server_offers(const json::raw_json& capabilities);

}  // namespace mcpbx::mcp::protocol

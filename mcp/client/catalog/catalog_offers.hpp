// Capabilities of all tool servers together, as far as mcpbx tells its own callers of them.
#pragma once
#include "mcp/json/raw_json.hpp"
#include "mcp/protocol/extensions.hpp"
#include "mcp/protocol/server_offers.hpp"

#include <span>
#include <string>
#include <vector>

namespace mcpbx::mcp::catalogs {

/// Capabilities of one server, as far as it has told them.
struct told_offers {
  protocol::server_offers offers;
  /// The server will never tell its capabilities: it is disabled, or has failed for good. Earlier ones still count.
  bool silent = false;
  protocol::extension_rules extensions = {};
  std::vector<std::string> open = {};  ///< its open extensions, as protocol::open_extensions() finds them
};

/// The union of all servers' capabilities. While some server has not told its own yet, the union also has those that
/// mcpbx can serve without any server (empty lists, levels of logs, refused completions and subscriptions, tasks of
/// tools that make none, and the carried extensions), since a caller hears of capabilities in its handshake only.
struct catalog_offers {
  bool tools = true;  ///< always: mcpbx lists tools even if there are none
  bool prompts = false, resources = false;
  bool subscribe = false;  ///< some server takes subscriptions to its resources
  bool completions = false;
  bool logging = false;
  json::raw_json tasks;  ///< the member of 2025-11-25, as the first server that has it wrote it; or absent
  /// Extensions and experimental capabilities by name, as far as their methods pass or they need none; one that several
  /// servers have is that of the first. Absent: none.
  json::raw_json extensions, experimental;
  /// Likewise, but only extensions that need no methods of their own, for callers that may use none.
  json::raw_json bare_extensions, bare_experimental;
  bool unnamed = false;  ///< some server lists an extension that is told to nobody, because its entry does not name it

  bool operator==(const catalog_offers& other) const;
};

/// Returns the union over servers in the order of the configuration. Extensions that are neither carried nor named by
/// the server's entry nor open are left out. A server's `tasks`, `extensions` or `experimental` of more than 16 KiB
/// does not count, nor do names of more than 256 bytes, and whatever would make the `extensions` or the `experimental`
/// of all servers longer than 64 KiB.
catalog_offers joined_offers(std::span<const told_offers> servers);

}  // namespace mcpbx::mcp::catalogs

// The revisions of MCP that mcpbx speaks, the keys of `_meta` that the protocol itself uses, and the error codes that
// only one of the two families of revisions knows.
#pragma once
#include <algorithm>
#include <array>
#include <string_view>

namespace mcpbx::mcp::protocol {

namespace revision {
/// The only stateless revision: every request names its client, and nothing is negotiated before.
inline constexpr std::string_view modern = "2026-07-28";
/// Revision that `initialize` asks for: the newest one with a handshake.
inline constexpr std::string_view latest_legacy = "2025-11-25";
/// All revisions with the handshake, oldest first.
inline constexpr std::array<std::string_view, 4> legacy = {"2024-11-05", "2025-03-26", "2025-06-18", latest_legacy};

/// The only one in which messages may come as a JSON array.
inline constexpr std::string_view with_batches = "2025-03-26";

inline bool is_legacy(std::string_view r) {
  return std::ranges::find(legacy, r) != legacy.end();
}
inline bool is_known(std::string_view r) {
  return r == modern || is_legacy(r);
}
}  // namespace revision

namespace meta_key {
inline constexpr std::string_view progress_token = "progressToken";
// 2026-07-28, on every request:
inline constexpr std::string_view protocol_version = "io.modelcontextprotocol/protocolVersion";
inline constexpr std::string_view client_info = "io.modelcontextprotocol/clientInfo";
inline constexpr std::string_view client_capabilities = "io.modelcontextprotocol/clientCapabilities";
inline constexpr std::string_view log_level = "io.modelcontextprotocol/logLevel";
// 2026-07-28, on what a subscriptions/listen delivers, and on results:
inline constexpr std::string_view subscription_id = "io.modelcontextprotocol/subscriptionId";
inline constexpr std::string_view server_info = "io.modelcontextprotocol/serverInfo";
// In a question of a tool server, added by mcpbx: the server's configured name.
inline constexpr std::string_view asking_server = "mcpbx/server";
}  // namespace meta_key

/// Error codes of MCP that are no part of JSON-RPC.
namespace mcp_code {
inline constexpr int resource_not_found = -32002;            ///< up to 2025-11-25; later -32602 with data.uri
inline constexpr int url_elicitation_required = -32042;      ///< 2025-11-25 only
inline constexpr int header_mismatch = -32020;               ///< 2026-07-28: between two neighbours only
inline constexpr int missing_client_capability = -32021;     ///< 2026-07-28
inline constexpr int unsupported_protocol_version = -32022;  ///< 2026-07-28: between two neighbours only
}  // namespace mcp_code

}  // namespace mcpbx::mcp::protocol

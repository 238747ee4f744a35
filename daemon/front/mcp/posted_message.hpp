// The message in the body of a POST to /mcp, and the era that it belongs to. Pure.
#pragma once
#include "daemon/front/mcp/mcp_refusal.hpp"
#include "mcp/http/server/request_parser.hpp"
#include "mcp/rpc/rpc_message.hpp"
#include "mcp/support/shared_bytes.hpp"

#include <expected>
#include <string_view>

namespace mcpbx::daemon::mcp_door {

struct posted_message {
  mcp::rpc::message m;
  bool modern = false;      ///< it belongs to 2026-07-28: no session
  json::raw_json revision;  ///< the revision that its `_meta` names; absent: none
};

/// Meaning of the MCP-Protocol-Version header.
enum class named_revision : std::uint8_t { none, legacy, modern, unknown };

/// Reads the header; more than one of them is unknown.
named_revision revision_in(const http::servers::request_head& head);

/// Reads the body. A request is modern if its `_meta` or the header names a modern revision (versioning, "Backward
/// Compatibility with Initialization-Based Versions"); the headers of such a request are not checked here. Refuses a
/// body that is no message of JSON-RPC (400, -32700 or -32600), a revision that nobody knows (400, -32022), a modern
/// request without the members that `_meta` must have (400, -32602), and a modern batch or response (400, -32600).
std::expected<posted_message, mcp_refusal> read_post(const http::servers::request_head& head, shared_bytes body,
                                                     int max_depth);

}  // namespace mcpbx::daemon::mcp_door

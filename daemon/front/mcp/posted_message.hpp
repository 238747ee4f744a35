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

/// Reads the body, but does not check the headers of a modern request. Refuses (400) with -32700 or -32600 for no
/// message or a modern batch or response, -32022 for an unknown revision, -32602 for a wrong `_meta` of a modern one.
std::expected<posted_message, mcp_refusal> read_post(const http::servers::request_head& head, shared_bytes body,
                                                     int max_depth);

}  // namespace mcpbx::daemon::mcp_door

// Check of the headers of a modern request against its body (2026-07-28, streamable-http, "Server Validation"), so that
// nobody on the way routed the request by other values than mcpbx acts on. Pure.
#pragma once
#include "mcp/http/header.hpp"
#include "mcp/json/raw_json.hpp"
#include "mcp/rpc/rpc_message.hpp"

#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace mcpbx::daemon::mcp_door {

/// Returns the definition of the tool of this name, as its server gave it; absent: there is none.
using definition_lookup = std::function<json::raw_json(std::string_view tool)>;

/// Returns the error (-32020) for a request whose MCP-Protocol-Version, Mcp-Method, Mcp-Name or Mcp-Param-* header is
/// missing, given twice or malformed, or says something else than the body; `revision` is the one that the body's
/// `_meta` names. Mcp-Param-* headers that the tool's schema does not name are accepted. Params that give a mirrored
/// member twice are refused (-32602), since nobody can say which of them is meant.
std::optional<mcp::rpc::rpc_error> check_modern_headers(const std::vector<http::header>& headers,
                                                        const mcp::rpc::message& request,
                                                        const json::raw_json& revision,
                                                        const definition_lookup& definition);

/// Returns the text that a header value stands for: the decoded one of "=?base64?…?=", else the value as it is.
/// Nothing: the base64 is malformed, or the value has a character that no header value may have.
std::optional<std::string> header_meaning(std::string_view value);

}  // namespace mcpbx::daemon::mcp_door

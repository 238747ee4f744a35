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

/// Returns the error (-32020) for headers that are missing, given twice or malformed, or contradict the body, whose
/// `_meta` names `revision`; -32602 for a mirrored member that the params have twice. Ignores unknown Mcp-Param-*.
std::optional<mcp::rpc::rpc_error> check_modern_headers(const std::vector<http::header>& headers,
                                                        const mcp::rpc::message& request,
                                                        const json::raw_json& revision,
                                                        const definition_lookup& definition);

/// Returns the text that a header value stands for: the decoded one of "=?base64?…?=", else the value as it is.
/// Nothing: the base64 is malformed, or the value has a character that no header value may have.
std::optional<std::string> header_meaning(std::string_view value);

}  // namespace mcpbx::daemon::mcp_door

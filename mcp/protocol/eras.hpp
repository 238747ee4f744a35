// Adds to a message, or takes from it, what differs when its two ends speak different families of MCP revisions. Pure
// functions over raw JSON: whatever they need not change keeps its bytes.
#pragma once
#include "mcp/json/raw_json.hpp"
#include "mcp/support/error.hpp"

#include <cstdint>
#include <optional>
#include <string_view>

namespace mcpbx::mcp {

/// What a request to a tool server says about itself in `_meta`.
struct request_meta {
  std::string_view revision;                   ///< the modern revision spoken; empty: the server is a legacy one
  raw_json client_info;                        ///< modern: who asks; absent: what `_meta` already says, else `own_info`
  raw_json own_info;                           ///< modern: mcpbx's own Implementation object
  raw_json capabilities;                       ///< modern: what the one who asks can do; absent: nothing
  std::optional<std::int64_t> progress_token;  ///< ours; absent: no progress is wanted
  std::string_view log_level = {};             ///< modern: from which level on logs are wanted; empty: as `_meta` says
  bool in_params = true;                       ///< false: the params are known to have no `_meta`
};

/// `params` (absent counts as {}) for a tool server: the progress token is ours or none, a modern server gets the three
/// io.modelcontextprotocol keys, a legacy one is spared them. Other members of `_meta` stay as they are. A `_meta` that
/// is no object, or that is there twice, is errc::invalid_argument.
result<segments> with_request_meta(const raw_json& params, const request_meta& meta);

/// A modern server's result for a legacy caller: without resultType, ttlMs and cacheScope, and without a
/// structuredContent that is no object. Where that would leave nothing, or nothing valid, to read, `content` gets the
/// structuredContent as text (2025-11-25, tools, "Structured Content"). The very same value when nothing is to change.
raw_json strip_modern_result(const raw_json& result);

/// A tool definition for a legacy caller: without an outputSchema that is not for an object, and with an empty
/// inputSchema where there is none, for lack of which clients refuse the whole list. The very same value when nothing
/// is to change.
raw_json legacy_definition(const raw_json& definition);

/// A modern server's JSON-RPC error object for a legacy caller. Codes that only two neighbours may exchange become
/// internal errors, a missing capability becomes invalid params that name it, and -32602 with `data.uri` becomes the
/// old "resource not found". The very same value when nothing is to change.
raw_json legacy_error(const raw_json& error);

}  // namespace mcpbx::mcp

// Adds to a message, or takes from it, what differs when its two ends speak different families of MCP revisions. Pure
// functions over raw JSON: whatever they need not change keeps its bytes.
#pragma once
#include "mcp/json/raw_json.hpp"
#include "mcp/support/error.hpp"

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace mcpbx::mcp::protocol {

/// Content of `_meta` in a request to a tool server.
struct request_meta {
  std::string_view revision;                   ///< the modern revision spoken; empty: the server is a legacy one
  json::raw_json client_info;                  ///< modern: the client; absent: as `_meta` says, else `own_info`
  json::raw_json own_info;                     ///< modern: mcpbx's own Implementation object
  json::raw_json capabilities;                 ///< modern: capabilities of the client; absent: none
  std::optional<std::int64_t> progress_token;  ///< our token; absent: no progress is wanted
  std::string_view log_level = {};             ///< modern: lowest level of wanted logs; empty: as `_meta` says
  std::optional<json::raw_json> old = {};      ///< the `_meta` of the params as a part of their bytes, if it is known
};

/// The `_meta` that was written last. Callers repeat theirs from call to call, and only our token differs.
struct written_meta {
  /// Bound on the bytes of the caller that are kept.
  static constexpr std::size_t longest = 2048;
  std::string old, revision, log_level, client_info, capabilities;  ///< all that decides about `text`
  bool own_info = false;                                            ///< `client_info` is mcpbx's own
  std::string text;  ///< the object without the token and what stands behind it; "": none is kept
};

/// Returns `params` (absent counts as {}) for a tool server with this `_meta`, whose other members stay. `known` may
/// spare the work, and is brought up to date. errc::invalid_argument: `_meta` is no object, or occurs twice.
result<json::segments> with_request_meta(const json::raw_json& params, const request_meta& meta,
                                         written_meta* known = nullptr);

/// Returns a modern server's result for a legacy caller: without resultType, ttlMs and cacheScope, and without a
/// structuredContent that is no object. If no valid content would be left, `content` gets the structuredContent as text
/// (2025-11-25, tools, "Structured Content"). Returns the same value if nothing changes.
json::raw_json strip_modern_result(const json::raw_json& result);

/// Returns a tool definition for a legacy caller: without an outputSchema for other values than objects, and with an
/// inputSchema, since clients refuse a whole list if one is missing. Returns the same value if nothing changes.
json::raw_json legacy_definition(const json::raw_json& definition);

/// Returns a modern server's JSON-RPC error object for a legacy caller. Codes for two neighbours only become internal
/// errors, a missing capability becomes invalid params that name it, and -32602 with `data.uri` about a resource
/// becomes the old "resource not found". Returns the same value if nothing changes.
json::raw_json legacy_error(const json::raw_json& error, bool about_resource);

}  // namespace mcpbx::mcp::protocol

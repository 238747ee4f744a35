// Answers for callers of the modern era (2026-07-28): the members that each result must have, and the codes that an
// error may have. Pure functions over raw JSON: whatever they need not change keeps its bytes.
#pragma once
#include "mcp/json/raw_json.hpp"

#include <cstdint>
#include <optional>
#include <string_view>

namespace mcpbx::mcp::protocol {

/// The time for which a result may be kept, and the readers for whom (2026-07-28, caching).
struct cache_hints {
  std::int64_t ttl_ms = 0;
  bool is_private = true;
};
/// Longest ttlMs that is passed on: a day.
inline constexpr std::int64_t longest_ttl_ms = 86'400'000;

/// The form of one result.
struct modern_form {
  /// Hints for a result that has none of its own; absent: the method's results are not cacheable.
  std::optional<cache_hints> cache = {};
  json::raw_json server_info = {};  ///< an Implementation object for `_meta`; absent: none
};

/// Returns a result object for a modern caller: adds resultType, serverInfo and, for a cacheable method, hints that are
/// in bounds, as far as they are missing. An interim result gets no hints, nor does one of an extension's type.
json::segments modern_result(const json::raw_json& result, const modern_form& form);
/// Returns the same for a result of mcpbx's own that has none of these members. Does not look into `result`, so that a
/// long list costs no time.
json::segments modern_own_result(const json::raw_json& result, const modern_form& form);

/// The sender and the receiver of an error.
struct error_crossing {
  bool from_modern = false;          ///< the tool server speaks the modern era
  std::string_view uri = {};         ///< the resource that was asked for, or ""
  json::raw_json capabilities = {};  ///< of the caller
};
/// Returns a tool server's JSON-RPC error object for a modern caller. "Resource not found" (-32002) becomes -32602 with
/// data.uri. Of the codes that the specification keeps for itself, only a missing capability (-32021) that the caller
/// does lack is passed on; others become internal errors. Returns the same value if nothing changes.
json::raw_json modern_error(const json::raw_json& error, const error_crossing& crossing);

/// Returns data.elicitations of an error "URL elicitation required" (-32042, 2025-11-25), or an absent value for
/// another error.
json::raw_json url_elicitations(const json::raw_json& error);

}  // namespace mcpbx::mcp::protocol

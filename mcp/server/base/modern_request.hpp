// Reads from the `_meta` of a request what a modern caller says about itself (2026-07-28, basic, "Per-request protocol
// fields"). A request that names a protocol version there is a modern one; nothing is kept from it for later ones.
#pragma once
#include "mcp/json/raw_json.hpp"
#include "mcp/protocol/caller_capabilities.hpp"
#include "mcp/protocol/modern_answers.hpp"
#include "mcp/rpc/rpc_message.hpp"
#include "mcp/support/recycled.hpp"

#include <cstddef>
#include <expected>
#include <memory>
#include <string>

namespace mcpbx::mcp::server {

struct modern_request : recycled<modern_request> {
  json::raw_json capabilities;         ///< as the caller declared them
  protocol::caller_capabilities able;  ///< the same, read
  json::raw_json token;                ///< the progress token, not checked, or absent
  std::string log_level;               ///< the least urgent logs that it wants, or "": none
  protocol::modern_form form;          ///< of its result
};

/// The last `_meta` that a caller has sent, since callers repeat it from request to request.
struct known_meta {
  /// Longest text that is kept.
  static constexpr std::size_t longest = 4096;
  json::raw_json text;  ///< absent: none
  modern_request read;
};

/// Reads the params of a request. `known` may spare the work, and is brought up to date. Null: it speaks the legacy
/// era. The error is -32602 for a wrong or missing member and -32022 for another revision. `only_modern`: a request
/// without protocol version is an error as well.
std::expected<std::unique_ptr<modern_request>, rpc::rpc_error> read_modern_request(const json::raw_json& params,
                                                                                   bool only_modern,
                                                                                   known_meta* known = nullptr);

}  // namespace mcpbx::mcp::server

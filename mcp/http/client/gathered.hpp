// Gathers the small pieces of a body into few buffers: a conversation has two pieces for each message, and Asio passes
// at most sixteen to one system call.
#pragma once
#include "mcp/json/raw_json.hpp"

namespace mcpbx::http::clients {

/// Returns the same text: copies pieces below 4 KiB into blocks of at most 64 KiB, shares larger ones.
json::segments gathered(const json::segments& body);

}  // namespace mcpbx::http::clients

// A body of many small pieces in few buffers: a conversation has two pieces for each of its messages, and Asio gives
// the system sixteen at a time.
#pragma once
#include "mcp/json/raw_json.hpp"

namespace mcpbx::http {

/// The same text: pieces below 4 KiB are copied into blocks of at most 64 KiB, larger ones stay shared.
segments gathered(const segments& body);

}  // namespace mcpbx::http

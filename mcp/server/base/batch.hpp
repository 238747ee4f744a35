// The messages of a JSON-RPC batch, which one revision of MCP has.
#pragma once
#include "mcp/rpc/rpc_message.hpp"

#include <cstddef>
#include <expected>
#include <string>
#include <string_view>
#include <vector>

namespace mcpbx::mcp::server {

/// One element of a batch: a request, notification or response, or the reason why it is none of them.
using batch_part = std::expected<rpc::message, rpc::envelope_fault>;

/// Returns the elements of `batch`, in a session of this revision. The error says in one clause why the whole batch is
/// refused: the revision has no batches, or the batch is empty or has more than `most` elements; then none was handled.
std::expected<std::vector<batch_part>, std::string> read_batch(const rpc::message& batch, std::string_view revision,
                                                               std::size_t most, int max_depth = 256);

}  // namespace mcpbx::mcp::server

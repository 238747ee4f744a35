// Limits on the parts of one request that are read, converted and journalled on the main thread.
#pragma once
#include <cstddef>

namespace mcpbx::daemon::chat {

/// Larger than the limit of any model's API.
inline constexpr std::size_t most_client_tools = 1'024, most_messages = 16'384;

}  // namespace mcpbx::daemon::chat

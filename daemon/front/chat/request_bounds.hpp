// Bounds on the parts of one request that are read, adapted and journalled on the speaking thread.
#pragma once
#include <cstddef>

namespace mcpbx::daemon {

/// No model's API takes as many.
inline constexpr std::size_t most_client_tools = 1'024, most_messages = 16'384;

}  // namespace mcpbx::daemon

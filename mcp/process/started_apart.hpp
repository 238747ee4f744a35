// Starts programs that are no tool servers, such as a browser.
#pragma once
#include "mcp/support/error.hpp"

#include <string>
#include <vector>

namespace mcpbx::mcp::process {

/// Starts a program found by PATH, without a shell, in a session of its own and with /dev/null for its streams. Nobody
/// waits for it; the reaper of this process takes it. errc::io: it cannot be started. `words` is not empty.
result<void> start_apart(std::vector<std::string> words);

}  // namespace mcpbx::mcp::process

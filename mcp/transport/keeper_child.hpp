// The keeper's own process.
#pragma once

namespace mcpbx::mcp {

/// Called in the forked child: becomes the keeper and never returns. Spawns, signals and reaps tool servers as
/// `control_fd` says; ends all of them and itself when that is closed.
[[noreturn]] void run_keeper(int control_fd);

}  // namespace mcpbx::mcp

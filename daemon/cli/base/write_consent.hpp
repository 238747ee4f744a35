// The question before a command writes into configurations.
#pragma once
#include "daemon/cli/base/context.hpp"

namespace mcpbx::cli {

/// Asks unless `yes` (--yes). Returns `done` if the person agrees, else the exit status, after a line on stderr.
int agreed_to_write(context& c, bool yes);

}  // namespace mcpbx::cli

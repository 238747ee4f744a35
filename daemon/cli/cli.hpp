// The `mcpbx` program: parses the command line and runs one verb.
#pragma once

namespace mcpbx::cli {

/// Returns the exit status (design section 4).
int run(int argc, char** argv);

}  // namespace mcpbx::cli

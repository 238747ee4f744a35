// The `mcpbx` program: parses the command line and runs one verb.
#pragma once

namespace mcpbx::cli {

/// Returns the exit status: one of terminal/terminal.hpp.
int run(int argc, char** argv);

}  // namespace mcpbx::cli

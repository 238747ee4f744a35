// The `mcpbx` program: parses the command line and runs one verb.
#pragma once
#include <functional>

namespace CLI {
class App;
}

namespace mcpbx::cli::program {

/// Returns the exit status: one of terminal/terminal.hpp.
int run(int argc, char** argv);

/// Calls `f` with the options of the program and the pages of its verbs, for manual pages made from them.
void with_pages(const std::function<void(CLI::App&)>& f);

}  // namespace mcpbx::cli::program

// The command-line program.
#include "daemon/cli/cli.hpp"

int main(int argc, char** argv) {
  return mcpbx::cli::program::run(argc, argv);
}

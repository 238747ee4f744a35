// The daemon's program. The keeper is forked before there is a thread, a socket or a descriptor to inherit.
#include "daemon/app/daemon.hpp"
#include "daemon/app/options.hpp"
#include "mcp/transport/keeper.hpp"

#include <malloc.h>

#include <cstdio>
#include <variant>

int main(int argc, char** argv) {
  // Large messages come from mmap, so that their memory goes back to the system when they have passed.
  ::mallopt(M_MMAP_THRESHOLD, 256 << 10);
  ::mallopt(M_ARENA_MAX, 2);
  auto parsed = mcpbx::daemon::parse_command_line(argc, argv);
  if (const int* status = std::get_if<int>(&parsed)) return *status;
  const auto& options = std::get<mcpbx::daemon::command_line>(parsed);
  if (options.check_config) return mcpbx::daemon::check_configuration(options);
  auto keeper = mcpbx::mcp::fork_keeper();
  if (!keeper) {
    std::fprintf(stderr, "mcpbxd: %s\n", keeper.error().message.c_str());
    return 1;
  }
  return mcpbx::daemon::run_daemon(options, *keeper);
}

// The daemon's program. The keeper is forked before there is a thread, a socket or a descriptor to inherit.
#include "daemon/app/configuration.hpp"
#include "daemon/app/daemon.hpp"
#include "daemon/app/examination.hpp"
#include "daemon/app/process/log_writer.hpp"
#include "daemon/app/process/options.hpp"
#include "daemon/guard/credentials/secret_service.hpp"
#include "mcp/process/keeper/keeper.hpp"

#include <malloc.h>

#include <variant>

int main(int argc, char** argv) {
  // Large messages come from mmap, so that their memory goes back to the system when they have passed.
  ::mallopt(M_MMAP_THRESHOLD, 256 << 10);
  ::mallopt(M_ARENA_MAX, 2);
  auto parsed = mcpbx::daemon::process::parse_command_line(argc, argv);
  if (const int* status = std::get_if<int>(&parsed)) return *status;
  const auto& options = std::get<mcpbx::daemon::process::command_line>(parsed);
  if (options.secret_service_key) return mcpbx::daemon::credentials::print_secret_service_key();
  if (options.check_config) return mcpbx::daemon::app::check_configuration(options);
  if (options.examine) return mcpbx::daemon::app::examine(options);
  auto keeper = mcpbx::mcp::keepers::fork_keeper();
  if (!keeper) {
    mcpbx::daemon::process::say("mcpbxd: " + keeper.error().message + "\n");
    return 1;
  }
  return mcpbx::daemon::app::run_daemon(options, *keeper);
}

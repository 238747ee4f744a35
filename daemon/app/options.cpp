// Parsing for mcpbxd.
#include "daemon/app/options.hpp"

#include <CLI/CLI.hpp>

#include <cstdio>

namespace mcpbx::daemon {

std::variant<command_line, int> parse_command_line(int argc, char** argv) {
  command_line o;
  std::string level, http;
  CLI::App app{"The mcpbx daemon: one exchange between your programs, your models and your tool servers.", "mcpbxd"};
  app.set_version_flag("--version", "mcpbxd " MCPBX_VERSION);
  app.add_option("--config", o.config, "the configuration, instead of the usual places")->type_name("FILE");
  app.add_option("--socket", o.socket, "where to listen")->type_name("PATH");
  app.add_option("--http", http, "an HTTP address as well (comes in a later version)")->type_name("HOST:PORT");
  app.add_option("--log-level", level, "trace, debug, info, warn, error or off")->type_name("LEVEL");
  app.add_flag("--check-config", o.check_config, "check the configuration, run nothing, and end");
  app.add_flag("--idle-exit", o.idle_exit, "end after idleExitMs without callers or runs");
  try {
    app.parse(argc, argv);
  } catch (const CLI::CallForHelp& e) {
    return app.exit(e);
  } catch (const CLI::CallForVersion& e) {
    return app.exit(e);
  } catch (const CLI::ParseError& e) {
    std::fprintf(stderr, "mcpbxd: %s; see `mcpbxd --help`\n", e.what());
    return 2;
  }
  if (!http.empty()) {
    std::fprintf(stderr, "mcpbxd: `--http` comes in a later version of mcpbx; callers reach this one on its socket\n");
    return 2;
  }
  if (!level.empty()) {
    log::level l{};
    if (!log::parse_level(level, l)) {
      std::fprintf(stderr, "mcpbxd: `--log-level %s`: expected trace, debug, info, warn, error or off\n",
                   level.c_str());
      return 2;
    }
    o.log_level = l;
  }
  return o;
}

}  // namespace mcpbx::daemon

// Parsing of the command line of mcpbxd.
#include "daemon/app/process/options.hpp"

#include "conf/model/forms.hpp"
#include "daemon/app/process/log_writer.hpp"
#include "daemon/command_line/parse_options.hpp"
#include "mcp/support/text.hpp"

#include <CLI/CLI.hpp>

namespace mcpbx::daemon::process {
namespace {

constexpr const char* more =
    R"(Runs in the foreground, logs to standard error, and prints `ready` with the socket's path once callers can connect.
`mcpbx` starts it by itself when it is needed; run it yourself for a log at the terminal or below a service manager.

Signals: SIGTERM and SIGINT stop it (running work has 3 s, tool servers some more), a second one at once. Under systemd it
takes a passed socket, tells when it is ready, and marks log lines with their priority.

Places:
  socket         --socket, $MCPBX_SOCKET, $XDG_RUNTIME_DIR/mcpbx/mcpbx.sock, ~/.local/state/mcpbx/mcpbx.sock
  configuration  --config, $MCPBX_CONFIG, $XDG_CONFIG_HOME/mcpbx/config.json (~/.config), /etc/mcpbx/config.json; the last
                 two with config.d/*.json beside them. Without any: the bundled tools, and a model when OPENAI_API_KEY is set

Exit status:
  0   stopped as asked
  1   the socket cannot be had
  2   wrong options
  78  wrong configuration; every error was listed)";

void declare(CLI::App& app, command_line& o, std::string& level) {
  app.name("mcpbxd");
  app.description("The mcpbx daemon: one exchange between your programs, your models and your tool servers.");
  app.set_version_flag("--version", "mcpbxd " MCPBX_VERSION, "print the version");
  app.set_help_flag("-h,--help", "print this help");
  app.footer(more);
  app.add_option("--config", o.config, "the configuration, instead of the usual places")->type_name("FILE");
  app.add_option("--socket", o.socket, "where to listen, instead of the usual place")->type_name("PATH");
  app.add_option("--log-level", level, "trace, debug, info, warn, error or off (info)")->type_name("LEVEL");
  app.add_option("--log-file", o.log_file,
                 "log to this file, 0600; at 10 MiB, and at SIGUSR1, it is begun anew and 9 are kept")
      ->type_name("FILE");
  app.add_flag("--check-config", o.check_config, "check the configuration, run nothing, and end");
  app.add_flag("--examine", o.examine, "try the addresses of the configuration, print the outcome as JSON, and end")
      ->group("");
  app.add_option("--examine-server", o.examined, "a tool server whose address --examine tries")
      ->group("")
      ->type_name("NAME");
  app.add_flag("--idle-exit", o.idle_exit, "end after idleExitMs (15 minutes) without callers or runs");
  app.add_option("--private-folder", o.private_folder, "the folder made for this daemon by `mcpbx --standalone`")
      ->type_name("PATH")
      ->group("");
  app.add_flag("--secret-service-key", o.secret_service_key, "print the key of the tokens' file")->group("");
  app.add_option("--http", o.http, "where to serve HTTP as well, on this machine, instead of http.address")
      ->type_name("HOST:PORT");
}

}  // namespace

void with_options(const std::function<void(CLI::App&)>& f) {
  CLI::App app;
  command_line o;
  std::string level;
  declare(app, o, level);
  f(app);
}

std::variant<command_line, int> parse_command_line(int argc, char** argv) {
  command_line o;
  std::string level;
  CLI::App app;
  declare(app, o, level);
  const auto tell = [](const std::string& wrong) { say("mcpbxd: " + wrong + "\n"); };
  if (const auto status = mcpbx::command_line::parse_words(app, argc, argv, tell)) return *status;
  if (!o.http.empty() && !conf::model::forms::loopback_address.accepts(o.http)) {
    tell("`--http " + o.http + "`: expected " + std::string(conf::model::forms::loopback_address.says) + "; " +
         std::string(conf::model::forms::loopback_address.mend));
    return 2;
  }
  if (!level.empty()) {
    log::level l{};
    if (!log::parse_level(level, l)) {
      tell("`--log-level " + level + "`: expected trace, debug, info, warn, error or off");
      return 2;
    }
    o.log_level = l;
  }
  return o;
}

}  // namespace mcpbx::daemon::process

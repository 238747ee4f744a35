// Loading of the configuration by command line and environment, with a report of its errors.
#include "daemon/app/configuration.hpp"

#include "conf/places.hpp"
#include "daemon/app/process/log_writer.hpp"
#include "mcp/support/text.hpp"

namespace mcpbx::daemon::app {

conf::file_options files_of(const process::command_line& o) {
  conf::file_options files;
  if (!o.config.empty()) files.flag = o.config;
  return files;
}

conf::loaded_files load_configuration(const process::command_line& o) {
  return conf::load_files(conf::environment_for_places(), files_of(o));
}

int check_configuration(const process::command_line& o) {
  auto loaded = load_configuration(o);
  const auto& notices = loaded.config.notices;
  process::say(conf::documents::listing(notices, "notice"));
  process::say(conf::documents::listing(loaded.errors, "error"));
  if (loaded.ok()) {
    for (const auto& file : loaded.config.sources) process::say(file + ": ok\n");
    if (loaded.config.sources.empty()) process::say("no configuration file: the defaults hold\n");
  }
  process::say(counted(loaded.errors.size(), "error") + ", " + counted(notices.size(), "notice") + "\n");
  return loaded.ok() ? 0 : exit_configuration;
}

}  // namespace mcpbx::daemon::app

// Loading of the configuration by command line and environment, with a report of its errors.
#include "daemon/app/configuration.hpp"

#include "conf/places.hpp"
#include "daemon/app/process/log_writer.hpp"
#include "mcp/support/text.hpp"

namespace mcpbx::daemon {

conf::file_options files_of(const command_line& o) {
  conf::file_options files;
  if (!o.config.empty()) files.flag = o.config;
  return files;
}

conf::loaded_files load_configuration(const command_line& o) {
  return conf::load_files(conf::environment_for_places(), files_of(o));
}

int check_configuration(const command_line& o) {
  auto loaded = load_configuration(o);
  const auto& notices = loaded.config.notices;
  say(conf::listing(notices, "notice"));
  say(conf::listing(loaded.errors, "error"));
  if (loaded.ok()) {
    for (const auto& file : loaded.config.sources) say(file + ": ok\n");
    if (loaded.config.sources.empty()) say("no configuration file: the defaults hold\n");
  }
  say(counted(loaded.errors.size(), "error") + ", " + counted(notices.size(), "notice") + "\n");
  return loaded.ok() ? 0 : exit_configuration;
}

}  // namespace mcpbx::daemon

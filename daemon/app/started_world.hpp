// The files and variables that the configuration in force came from, so that commands can report changes. No value
// leaves the daemon: files are compared here, and only the names of variables are sent.
#pragma once
#include "conf/config_files.hpp"
#include "conf/environment.hpp"
#include "conf/model/model.hpp"
#include "mcp/json/json_writer.hpp"

#include <sys/stat.h>

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

namespace mcpbx::daemon::app {

/// Files as they were when they were read. For one thread at a time: looks block, on a dead mount for ever.
class read_files {
 public:
  read_files(conf::environment env, conf::file_options options, const std::vector<conf::read_source>& read);

  /// Returns the files that were added, changed or removed since they were read.
  std::vector<std::string> changed();

 private:
  struct file {
    std::string path;
    struct stat seen{};
    std::uint64_t text = 0;  // hash of the content
  };
  conf::environment env_;
  conf::file_options options_;
  std::vector<file> files_;
};

class started_world {
 public:
  /// `read` are the files of `config` as they were when they were read.
  started_world(conf::environment env, conf::file_options files, const conf::model::configuration& config,
                const std::vector<conf::read_source>& read, bool idle_exit);

  /// Returns the files, for a look on a lane.
  const std::shared_ptr<read_files>& files() const noexcept { return files_; }
  /// Returns true if a command started the daemon, which then stops when nobody uses it.
  bool exits_when_idle() const noexcept { return idle_exit_; }
  /// Returns the variables that the configuration or its defaults refer to.
  const std::vector<std::string>& variables() const noexcept { return variables_; }
  /// Writes the members of hello about files and variables. `changed` is what a look at the files has told.
  void tell(json::json_writer& out, const std::vector<std::string>& changed) const;

 private:
  bool idle_exit_;
  std::shared_ptr<read_files> files_;
  std::vector<std::string> paths_, variables_;
};

/// Returns the names in `${env:NAME}`, `${NAME}` and `${NAME:-…}` of a text.
std::vector<std::string> variables_in(std::string_view text);

}  // namespace mcpbx::daemon::app

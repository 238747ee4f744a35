// What a daemon was started with, so that a command can say that the world is another one now. No value leaves: files
// are compared here, and of variables only the names are told.
#pragma once
#include "conf/config_files.hpp"
#include "conf/environment.hpp"
#include "conf/model/model.hpp"
#include "mcp/json/json_writer.hpp"

#include <sys/stat.h>

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace mcpbx::daemon {

class started_world {
 public:
  /// Reads the files of the configuration once more.
  started_world(conf::environment env, conf::file_options files, const conf::configuration& config, bool idle_exit);

  /// The files that are there now and were not, are not what they were, or are gone.
  std::vector<std::string> changed_files();
  /// The variables that the configuration or its defaults refer to.
  const std::vector<std::string>& variables() const noexcept { return variables_; }
  /// The members of hello about it.
  void tell(json_writer& out);

 private:
  struct file {
    std::string path;
    struct stat seen{};
    std::uint64_t text = 0;  // a hash
  };
  static file look_at(const std::string& path);
  static bool same(const struct stat& a, const struct stat& b);

  conf::environment env_;
  conf::file_options options_;
  bool idle_exit_;
  std::vector<file> files_;
  std::vector<std::string> variables_;
};

/// The names in `${env:NAME}`, `${NAME}` and `${NAME:-…}` of a text.
std::vector<std::string> variables_in(std::string_view text);

}  // namespace mcpbx::daemon

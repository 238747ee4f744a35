// Looks at paths and folders in a child process, since one of them may be on a mount that does not answer.
#pragma once
#include "conf/config_files.hpp"
#include "daemon/cli/doctor/facts.hpp"
#include "daemon/cli/doctor/in_time.hpp"
#include "daemon/cli/link/daemon_start.hpp"

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace mcpbx::cli::doctor {

/// Returns the files of the configuration that a command was told to read.
conf::file_options file_options_of(const link::place& chosen);

class path_looks {
 public:
  explicit path_looks(const link::place& chosen);

  /// Looks at each path, through links.
  std::vector<path_facts> at(const std::vector<std::string>& paths);

  struct configuration {
    std::vector<std::string> files;
    std::string fault;  ///< the reason if they cannot be told, or ""
  };
  /// Returns the files of the configuration; nullopt: the search hangs.
  std::optional<configuration> configuration_files();

  /// Returns the free bytes of the file system of a path that need not exist; nullopt: unknown.
  std::optional<std::int64_t> free_bytes(const std::string& path);

 private:
  checking_child child_;
};

}  // namespace mcpbx::cli::doctor

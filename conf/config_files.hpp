// Finds and reads the configuration files, and refuses those that another user could have written. These functions
// block: call them before the daemon serves callers, or on a lane.
#pragma once
#include "conf/environment.hpp"
#include "conf/load.hpp"
#include "conf/places.hpp"
#include "mcp/support/error.hpp"

#include <sys/stat.h>
#include <sys/types.h>

#include <filesystem>
#include <optional>
#include <string>
#include <vector>

namespace mcpbx::conf {

/// Inputs of the search, apart from the environment.
struct file_options {
  std::optional<std::string> flag;  ///< the value of --config
  std::filesystem::path system_directory = "/etc/mcpbx";
  std::optional<uid_t> user;  ///< required owner, beside root; unset: the effective user of this process
};

/// The largest file that is read.
inline constexpr std::size_t max_file_bytes = 4 * 1024 * 1024;

/// Returns the files of the first place that exists, in the order of merging: --config, $MCPBX_CONFIG, the user's
/// directory, the system's. Empty: the defaults hold. A directory gives `config.json`, then `config.d/*.json` in name
/// order. The working directory is never searched; a file that --config or $MCPBX_CONFIG names must exist.
result<std::vector<std::filesystem::path>> find_files(const environment& env, const file_options& options = {});

/// Reads one regular file of at most 4 MiB. File and directory must belong to the user or root, and nobody else may be
/// able to write them; a sticky directory such as /tmp is accepted. The error says how to fix it.
result<std::string> read_file(const std::filesystem::path& path, std::optional<uid_t> user = {});

/// Fails unless only the user and root can change the directory, as read_file() asks of the directory of a file.
result<void> check_directory(const std::filesystem::path& directory, std::optional<uid_t> user = {});

/// A file as it was when its text was read.
struct read_source {
  std::string path;
  struct stat seen{};  ///< from before the reading
  std::string text;
};
/// A configuration, and the texts that it was made of.
struct loaded_files : loaded {
  std::vector<read_source> read;  ///< in the order of merging; none that could not be read
};

/// Calls find_files(), read_file() for each file, and load(). Reports all errors at once, unreadable files included.
loaded_files load_files(const environment& env, const file_options& options = {});

}  // namespace mcpbx::conf

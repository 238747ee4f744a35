// Which configuration files count, and reading them with the checks that keep others from configuring us. Blocks: call
// it before the daemon speaks, or on a lane.
#pragma once
#include "conf/environment.hpp"
#include "conf/load.hpp"
#include "conf/places.hpp"
#include "mcp/support/error.hpp"

#include <sys/types.h>

#include <filesystem>
#include <optional>
#include <string>
#include <vector>

namespace mcpbx::conf {

/// What decides about the files.
struct file_options {
  std::optional<std::string> flag;  ///< --config
  std::filesystem::path system_directory = "/etc/mcpbx";
  std::optional<uid_t> user;  ///< who must own the files (or root); unset: who runs this
};

/// The largest file that is read.
inline constexpr std::size_t max_file_bytes = 4 * 1024 * 1024;

/// The files to read, in order; empty: there is none, and the defaults hold. The first that exists of --config,
/// $MCPBX_CONFIG, the user's directory and the system's; the last two are `config.json` with `config.d/*.json` beside
/// it in name order, or either alone. A file that --config or $MCPBX_CONFIG names must exist. Nothing is taken from the
/// working directory but what they name.
result<std::vector<std::filesystem::path>> find_files(const environment& env, const file_options& options = {});

/// Reads one file. It must be a regular file of at most 4 MiB that belongs to the user or root and is writable by
/// nobody else, and so must its directory be (a sticky one, like /tmp, will do). The error says how to mend it.
result<std::string> read_file(const std::filesystem::path& path, std::optional<uid_t> user = {});

/// find_files, read_file on each, load: all errors at once, those of files that cannot be read among them.
loaded load_files(const environment& env, const file_options& options = {});

}  // namespace mcpbx::conf

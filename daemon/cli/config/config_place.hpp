// The configuration that a verb changes: its files, and the place where an entry is written.
#pragma once
#include "conf/config_files.hpp"
#include "daemon/cli/base/context.hpp"
#include "mcp/support/error.hpp"

#include <filesystem>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace mcpbx::cli::config {

struct config_place {
  /// The file that --config or $MCPBX_CONFIG names. Entries are written into it, since such a file has no config.d.
  std::optional<std::filesystem::path> file;
  std::filesystem::path folder;         ///< of `config.json` and `config.d`, or of `file`; `secrets` is below it
  std::vector<conf::read_source> read;  ///< the files in force, in the order of merging; none: the defaults hold

  /// Returns the file in config.d for the entry `name`, or `file`.
  std::filesystem::path file_of(std::string_view name) const;
  /// Returns the text of one of the files; nullopt: it is not among them.
  std::optional<std::string> text_of(const std::filesystem::path& path) const;
};

/// Finds the configuration as the daemon does. errc::config: it cannot be read, or it is the system's, which this user
/// cannot write; the sentence says what to do. Wrong contents are no error here.
result<config_place> find_config_place(const context& c, const conf::environment& env,
                                       const std::filesystem::path& system_directory = "/etc/mcpbx");

}  // namespace mcpbx::cli::config

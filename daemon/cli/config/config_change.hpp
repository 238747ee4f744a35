// A change of the configuration before it is made: the files and their texts, checked as a whole. Pure.
#pragma once
#include "conf/config_files.hpp"
#include "conf/environment.hpp"
#include "daemon/cli/config/config_place.hpp"
#include "daemon/cli/terminal/line_diff.hpp"

#include <filesystem>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace mcpbx::cli::config {

/// One file that is written, or removed if `after` is unset.
struct file_change {
  std::filesystem::path path;
  std::optional<std::string> before, after;  ///< nullopt: no file
};

/// An entry of mcpServers to write.
struct new_entry {
  std::string name;
  std::string entry;  ///< a JSON object
  /// Line comments without their ends: above a new file of config.d, or above the entry in a file for all entries.
  std::vector<std::string> comments = {};
};

/// Returns the files that have the entry `name` in mcpServers, in the order of merging. Files that cannot be parsed
/// have none.
std::vector<std::filesystem::path> files_with(const config_place& place, const std::string& name);

/// Returns the whole configuration as it would be after the changes: the files in force with new texts, new files of
/// config.d in their order, removed ones left out.
conf::loaded loaded_after(const config_place& place, const std::vector<file_change>& changes,
                          const conf::environment& env);

/// Returns the lines of a change for people, secrets masked: a head with the path, then lines with - and +, and some
/// lines around them.
std::vector<terminals::diff_line> shown_change(const file_change& change);

/// Returns the command line or the address of an entry for people, secrets masked; "" for an entry without either.
std::string shown_entry(std::string_view entry);

}  // namespace mcpbx::cli::config

// Whole files: read with a bound, replaced at once, and made private. All functions block.
#pragma once
#include "mcp/support/error.hpp"

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>

namespace mcpbx::files {

/// Creates the folder of `path` with mode 0700, and those above it that are missing.
result<void> make_folder_of(const std::string& path);

/// Reads the whole file; nullopt: there is none. errc::io: unreadable, no regular file, or more than `max_bytes`.
result<std::optional<std::string>> read_whole_file(const std::string& path, std::size_t max_bytes);

/// Details of replace_whole_file().
struct whole_file_options {
  unsigned mode = 0600;              ///< permission bits of the new file
  std::string_view ending = ".new";  ///< of the temporary name; an older file of that name is removed
};
/// Replaces the file at once: a reader finds the old or the new text, even after a loss of power. The new text is first
/// written beside it under the temporary name. Writers in one folder wait for each other, at most 5 s. A link at `path`
/// is replaced by a file. On errc::io the old text stays.
result<void> replace_whole_file(const std::string& path, std::string_view text, const whole_file_options& how = {});

/// Removes the file, so that it stays away after a loss of power. A file that is not there counts as removed.
result<void> remove_whole_file(const std::string& path);

}  // namespace mcpbx::files

// The file of another program that holds our entry: its text, the backup of the text before ours was written, and a
// note of what was done. Changes are computed first and written at once.
#pragma once
#include "conf/hosts/install/own_entry.hpp"
#include "mcp/support/error.hpp"

#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace mcpbx::cli::hosts {

/// The note beside a file, FILE.mcpbx-note.
struct install_note {
  std::string program;
  std::string mark;              ///< of the text as we left it: its length and stable_hash()
  bool created = false;          ///< there was no file before
  std::vector<std::string> off;  ///< servers that were switched off
};
std::string note_json(const install_note& note);
/// Reads a note; nullopt: it is none of ours.
std::optional<install_note> read_note(std::string_view json);

/// A file and what stands beside it.
struct own_file {
  const conf::programs::program* program = nullptr;
  std::string path;
  std::optional<std::string> text, backup;  ///< nullopt: no file
  std::optional<install_note> note;
  unsigned mode = 0600;  ///< permission bits of the file

  std::string backup_path() const { return path + ".mcpbx-backup"; }
  std::string note_path() const { return path + ".mcpbx-note"; }
  /// Returns true if the backup of an earlier install has no note any more. An empty one has nothing to lose.
  bool lost_note() const { return !note && backup && !backup->empty() && text && *backup != *text; }
  /// Returns true if the file is as install left it.
  bool is_as_left() const;
};

/// Looks at the file. errc::config: it is a link, no regular file, of another user, read-only, or its folder is missing
/// or read-only; the sentence says what to do. A broken note counts as none.
result<own_file> look_at_own_file(const conf::programs::program& program, const std::string& path);

/// A change of the file.
struct own_change {
  std::optional<std::string> after;  ///< nullopt: the file is removed
  std::string backup;                ///< the text to keep beside it
  install_note note;
  std::vector<std::string> left_on;  ///< servers that run there still
  bool same = false;                 ///< nothing is to be written
  bool keeps_backup = false;         ///< the note is gone, and only the backup knows what install took out
};

/// Returns the text of the file without what we have done to it: the backup if the file is as we left it, else the
/// present text without our entry. Errors are those of without_own_entry().
result<std::string> base_text(const own_file& file);

/// Plans the file with our entry and the servers `off` off. `base` is base_text(). errc::config: a backup without its
/// note would be overwritten.
result<own_change> plan_install(const own_file& file, const std::string& base,
                                const conf::install::own_command& command, std::span<const std::string> off);
/// Plans the file as it was. `same`: our entry is not there, and nothing of ours stands beside it.
result<own_change> plan_uninstall(const own_file& file);

/// Writes backup, note and file, in this order. errc::config: the file has changed since it was looked at, and nothing
/// of it was written. errc::io: the old file stays.
result<void> write_install(const own_file& file, const own_change& change);
/// Writes the file, then removes backup and note. Errors as above.
result<void> write_uninstall(const own_file& file, const own_change& change);

}  // namespace mcpbx::cli::hosts

// Writes our entry into the text of another program's file, and takes it out again.
#pragma once
#include "conf/hosts/programs/programs.hpp"
#include "mcp/support/error.hpp"

#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace mcpbx::conf::install {

/// Name of our entry in every file.
inline constexpr std::string_view own_name = "mcpbx";

/// The command of our entry.
struct own_command {
  std::string program;            ///< an absolute path
  std::vector<std::string> args;  ///< "mcp" and what follows
};

/// The file with our entry, and the servers that are off in it.
struct edited_file {
  std::string text;
  std::vector<std::string> switched_off;  ///< of those that were asked for
  std::vector<std::string> left_on;  ///< the program has no switch for these, or its file is written in another way
};

/// Returns true if mcpbx can write itself into a file of the program.
bool can_install(const programs::program& to);

/// Returns our entry as a person would paste it into the program's file.
std::string pasted_entry(const programs::program& to, const own_command& command);

/// Returns true if the text has our entry. errc::parse: the text is broken, with its first error as the sentence.
result<bool> has_own_entry(const programs::program& to, std::string_view text, std::string_view file);

/// Returns `text` (may be "") with our entry, in place of one that is there already, and with the servers `off`
/// switched off. errc::parse: `text`, which `file` names, is broken. errc::invalid_argument: it cannot be edited as it
/// is written.
result<edited_file> with_own_entry(const programs::program& to, std::string_view text, const own_command& command,
                                   std::span<const std::string> off, std::string_view file);

/// Returns `text` without our entry, and with the servers `off` as they are in `before`, the text before ours was
/// written. Later changes stay. Errors as above.
result<std::string> without_own_entry(const programs::program& to, std::string_view text, std::string_view before,
                                      std::span<const std::string> off, std::string_view file);

}  // namespace mcpbx::conf::install

// The text of an entry of mcpServers and of the file that holds it.
#pragma once
#include "mcp/support/error.hpp"

#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace mcpbx::conf::edit {

/// An entry as `mcpbx add` gets it: a command line or an address.
struct entry_words {
  std::vector<std::string> command;  ///< the program and its arguments; empty with `url`
  std::string url;
  std::vector<std::pair<std::string, std::string>> env, headers;
  std::string cwd, env_file;  ///< "": not given
  bool lazy = false;
};

/// Returns the entry as a JSON object, with the keys in the order in which people write them.
std::string entry_json(const entry_words& words);

/// Returns the name of the file in config.d for an entry: `NAME.json`. Characters that cannot stand in a file's name,
/// and a dot at its front, are percent-encoded, as is the percent sign, so that no two names share a file.
std::string entry_file_name(std::string_view name);

/// Returns `text` with the entry `name` set to `entry`; of an empty text a whole new file. `file` is the name for
/// errors, which are those of set_member().
result<std::string> with_entry(std::string_view text, const std::string& name, std::string_view entry,
                               std::string_view file);

}  // namespace mcpbx::conf::edit

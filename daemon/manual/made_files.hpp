// The files that packages install beside the programs and that are made from the tables of the programs.
#pragma once
#include <string>
#include <vector>

namespace mcpbx::manual {

struct made_file {
  std::string path;  ///< below the folder for them: "man/man1/mcpbx.1"
  std::string text;
};
/// Returns the manual pages, the completions and the units of systemd for programs in /usr/bin.
std::vector<made_file> made_files();

}  // namespace mcpbx::manual

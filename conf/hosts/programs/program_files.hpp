// Paths of the files of a program, and the program that a file belongs to.
#pragma once
#include "conf/document/jsonc.hpp"
#include "conf/hosts/programs/programs.hpp"

#include <map>
#include <string>
#include <string_view>
#include <vector>

namespace mcpbx::conf::programs {

/// Values of environment variables by name, as in conf::environment.
using variable_values = std::map<std::string, std::string, std::less<>>;

/// Returns the paths that a pattern of a row stands for, the likeliest first; none if a variable is missing.
std::vector<std::string> program_paths(std::string_view pattern, const variable_values& variables);

/// Returns true if a path of a row is of the machine, and not of the user.
bool is_machine_path(std::string_view pattern);

/// Returns the format of a file by its name; JSON if it says nothing.
read::foreign_format format_of(std::string_view path);

/// A program whose project has a file, and the folder of that project.
struct project_file {
  const program* of = nullptr;
  std::string folder;
};
/// Returns the program whose project files end as `path` does; no program: none.
project_file project_of(std::string_view path);

/// Returns the programs that write a document like this one. Several: their units or meanings differ, so the person
/// must say which.
std::vector<const program*> programs_like(const documents::node& document, read::foreign_format format);

}  // namespace mcpbx::conf::programs

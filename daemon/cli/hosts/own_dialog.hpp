// Shared parts of install and uninstall: finding the file, asking, and telling.
#pragma once
#include "conf/environment.hpp"
#include "daemon/cli/base/context.hpp"
#include "daemon/cli/hosts/own_file.hpp"

#include <span>
#include <string>
#include <string_view>

namespace mcpbx::cli::hosts {

/// Returns the names of all programs.
std::span<const std::string_view> names_of_programs();

/// Returns the program called `name`, or says that there is none, with the near ones, and returns null.
const conf::programs::program* program_or_explain(context& c, const std::string& name);

/// Returns the path of the file that holds our entry: the first that exists, else the likeliest one; "" without a home.
std::string own_path_of(const conf::programs::program& program, const conf::environment& env);

/// Writes lines of a text to stderr, behind `head`. Texts of other programs' files are not shown: they hold secrets.
void tell_lines(context& c, std::string_view head, std::string_view text);

}  // namespace mcpbx::cli::hosts

// Looks for the files of other programs, and reads them. Nothing is written here.
#pragma once
#include "conf/environment.hpp"
#include "conf/hosts/import/foreign_servers.hpp"
#include "conf/hosts/programs/programs.hpp"
#include "mcp/support/error.hpp"

#include <string>
#include <vector>

namespace mcpbx::cli::hosts {

/// The files of one program that exist.
struct found_program {
  const conf::programs::program* program = nullptr;
  std::vector<conf::imports::foreign_file> files, beside;
  std::vector<std::string> unreadable;  ///< sentences about files that exist and cannot be read
};

/// Returns the paths where the program keeps servers, whether they exist or not, in the order in which they count.
std::vector<std::string> places_of(const conf::programs::program& program, const conf::environment& env);

/// Reads the files of the program. A file that narrows its servers and cannot be read is there with a broken text, so
/// that no server of the program is taken.
found_program look_for(const conf::programs::program& program, const conf::environment& env);

/// Reads one file that a person names, as one of `as`, or of the program that its path or its content tells.
/// errc::config: unreadable, or no or several programs fit; the sentence says what to write.
result<found_program> look_at(const std::string& path, const conf::programs::program* as, const conf::environment& env);

}  // namespace mcpbx::cli::hosts

// An import before anything is written: every server of other programs with its outcome.
#pragma once
#include "conf/hosts/import/same_servers.hpp"
#include "daemon/cli/config/config_place.hpp"
#include "daemon/cli/hosts/found_programs.hpp"

#include <span>
#include <string>
#include <vector>

namespace mcpbx::cli::hosts {

struct import_plan {
  std::vector<conf::imports::foreign_server> servers;  ///< `rows` refer to these
  std::vector<conf::imports::import_row> rows;
  std::vector<std::string> faults;  ///< sentences about whole files
  std::vector<std::string> asking;  ///< titles of programs that ask before each call, and have new servers

  /// Returns the number of servers that are refused.
  std::size_t refused() const;
};

/// Returns the origins of the servers of our configuration that were imported, as their files tell.
std::vector<conf::imports::import_origin> origins_of(std::span<const conf::model::server_entry> ours,
                                                     const config::config_place& place);

/// Reads the servers of the programs and compares them with those of our configuration. With `ask`, every new entry
/// says that all of its tools need a yes.
import_plan plan_import(std::span<const found_program> programs, std::span<const conf::model::server_entry> ours,
                        const conf::imports::own_places& own, bool ask,
                        std::span<const conf::imports::import_origin> origins = {});

/// Returns servers of our configuration as they were before their secrets were moved to files below `secrets`, so that
/// they can be compared with those of other programs. `home` is what `~` stands for.
std::vector<conf::model::server_entry> with_secrets(std::vector<conf::model::server_entry> servers,
                                                    const std::string& secrets, const std::string& home);

}  // namespace mcpbx::cli::hosts

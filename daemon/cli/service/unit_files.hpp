// The units of systemd that run the daemon. Pure.
#pragma once
#include <string>
#include <string_view>
#include <vector>

namespace mcpbx::cli::service {

struct unit_file {
  std::string name, text;
};

/// The first line of each file that `mcpbx service` writes, by which it knows them again.
inline constexpr std::string_view written_mark =
    "# Written by `mcpbx service enable`; `mcpbx service disable` removes it.\n";

/// Returns mcpbx.socket and mcpbx.service for the manager of a person. `mcpbxd` is the absolute path of the program.
std::vector<unit_file> user_units(std::string_view mcpbxd);

/// Returns mcpbx@.socket and mcpbx@.service, which run the daemon of the account behind the @ without a login.
std::vector<unit_file> system_units(std::string_view mcpbxd);

/// Returns the file in mcpbx.service.d that gives the daemon's tool servers this PATH, since a service does not see the
/// one of a shell.
unit_file path_drop_in(std::string_view path);

/// Returns the path of a program as the first word of ExecStart=: quoted, without specifiers.
std::string unit_program(std::string_view path);

}  // namespace mcpbx::cli::service

// Owners of runs and sessions. "uid:1000" is the person who runs the daemon, by the Unix socket; "http" is any holder
// of the port's token; "server:NAME" is a tool server that may call.
#pragma once
#include <string>
#include <string_view>

namespace mcpbx::daemon::stored {

/// Any holder of the port's token.
inline constexpr std::string_view port_principal = "http";
/// Returns true for the person who runs the daemon, who may access everything.
constexpr bool is_person(std::string_view principal) {
  return principal.starts_with("uid:");
}
constexpr bool is_tool_server(std::string_view principal) {
  return principal.starts_with("server:");
}
/// Returns true if `who` may read, continue and end runs and sessions of `owner`. A run or session of an older version
/// has no owner and belongs to the person.
constexpr bool may_have(std::string_view who, std::string_view owner) {
  return is_person(who) || who == owner;
}
inline std::string principal_of_server(std::string_view name) {
  return "server:" + std::string(name);
}

}  // namespace mcpbx::daemon::stored

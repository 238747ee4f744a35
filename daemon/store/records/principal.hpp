// Who a run and its session belong to: "uid:1000" is the person whose daemon it is, by the Unix socket; "http" is
// whoever has the token of the port; "server:NAME" is a tool server that may call.
#pragma once
#include <string>
#include <string_view>

namespace mcpbx::daemon {

/// Whether it is the person, who may have everything, and not somebody that was let in.
constexpr bool is_person(std::string_view principal) {
  return principal.starts_with("uid:");
}
/// Whether what belongs to `owner` may be read, gone on with or ended by `who`. What older versions kept without an
/// owner is the person's.
constexpr bool may_have(std::string_view who, std::string_view owner) {
  return is_person(who) || who == owner;
}
inline std::string principal_of_server(std::string_view name) {
  return "server:" + std::string(name);
}

}  // namespace mcpbx::daemon

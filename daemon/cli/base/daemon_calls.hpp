// Connecting to the daemon and asking it. Failures become a sentence on stderr and an exit status.
#pragma once
#include "daemon/cli/base/context.hpp"

#include <chrono>
#include <string>
#include <string_view>

namespace mcpbx::cli {

/// Compares versions such as "0.2.0" number by number; true if `version` is newer.
bool is_newer(std::string_view version, std::string_view than);
/// Parameters of a connection's first message, beside the working directory. A profile and `mcp_only` are binding: a
/// daemon that does not know them is not used.
struct introduction {
  std::string name = "mcpbx", profile = {};
  bool mcp_only = false;
  bool of_age = true;  ///< report or replace an outdated daemon; false for verbs that end it
  /// A daemon that is well answers the first message at once. After a third of this time a line says that it does not,
  /// and after all of it the command ends.
  std::chrono::milliseconds answers_within{30'000};
};
/// Connects, or explains the failure on stderr and sets `status`. Reports a daemon that is older than this program, its
/// configuration or its keys. If this program may start daemons, one that a command started reads a changed
/// configuration again, and is replaced where that is not enough and nobody uses it.
result<link::connected> connect_or_explain(context& c, bool may_start, int& status, const introduction& who = {});
/// Returns the exit status for a failed call: connection lost, interrupted, wrong arguments.
terminals::exit_status status_of(const error& e);
terminals::exit_status status_of(const link::answer& a);
/// Returns the kind of a failed request ("not_found", …), or "" if a tool server failed it.
std::string cause_of(const link::answer& a);
/// Prints a JSON-RPC error of the daemon, with a hint such as " (did you mean …?)" in front of the command at its end,
/// and gives the exit status that fits its code.
int explain(context& c, const link::answer& a, std::string_view hint = {});
/// Prints a failed call (connection lost, interrupted) and gives its exit status.
int explain(context& c, const error& e);
/// Calls one of mcpbx's own methods and returns its result. On failure prints the reason, with the nearest id if a
/// session is not known, and sets `status`.
result<json::raw_json> call_or_explain(context& c, link::daemon_connection& link, std::string_view method,
                                       std::string_view params, int& status);

}  // namespace mcpbx::cli

// Connecting to the daemon and asking it. Failures become a sentence on stderr and an exit status.
#pragma once
#include "daemon/cli/base/context.hpp"

#include <string>
#include <string_view>

namespace mcpbx::cli {

/// Compares versions such as "0.2.0" number by number; true if `version` is newer.
bool is_newer(std::string_view version, std::string_view than);
/// The first words of a connection about itself. A profile and `mcp_only` bind it: a daemon that does not know them is
/// not used.
struct introduction {
  std::string name = "mcpbx", profile = {}, cwd = {};
  bool mcp_only = false;
  bool of_age = true;  ///< an old daemon is told of, or replaced; false for a verb that ends it
};
/// Connects or says why not (then `status` is set); says so on stderr when the daemon is older than this program, or
/// was started before the configuration or a key was changed. One that this program may start, and that nobody uses, is
/// replaced instead.
result<connected> connect_or_explain(context& c, bool may_start, int& status, const introduction& who = {});
/// The exit status that fits a failed call (connection lost, interrupted, wrong arguments), and an error answer.
exit_status status_of(const error& e);
exit_status status_of(const answer& a);
/// Prints a JSON-RPC error of the daemon and gives the exit status that fits its code.
int explain(context& c, const answer& a);
/// Prints a failed call (connection lost, interrupted) and gives its exit status.
int explain(context& c, const error& e);
/// One request of an own method and its result; what went wrong is printed, and `status` says how the verb ends.
result<raw_json> call_or_explain(context& c, connection& link, std::string_view method, std::string_view params,
                                 int& status);

}  // namespace mcpbx::cli

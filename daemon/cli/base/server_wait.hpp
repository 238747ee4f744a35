// Tool servers that are not ready, and the wait for those of a daemon that was just started.
#pragma once
#include "daemon/cli/base/context.hpp"
#include "daemon/cli/link/daemon_connection.hpp"
#include "mcp/json/raw_json.hpp"

#include <functional>
#include <string>

namespace mcpbx::cli {

/// Enabled tool servers that are neither ready nor lazy, one line `  NAME: state: reason` for each.
struct unready_servers {
  std::string hopeless;  ///< in a crash loop, or their start failed; they are tried again forever
  std::string waiting;   ///< all others
  std::string starting;  ///< names of those that start for the first time, with commas between them
  bool none() const noexcept { return hopeless.empty() && waiting.empty(); }
};

/// Sorts the result of `mcpbx/servers`.
unready_servers unready_in(const json::raw_json& servers);

/// Waits for servers that start for the first time if this command, or systemd for it, started the daemon, at most 15
/// s, until `enough` returns true. Says on stderr for whom it waits. Returns at once with --no-wait.
void wait_for_servers(context& c, link::connected& made, const std::function<bool()>& enough = {});

/// Says on stderr which servers are still starting, if there are any.
void report_starting(context& c, link::daemon_connection& link);

}  // namespace mcpbx::cli

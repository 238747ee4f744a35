// A tool server that is a child process, spoken to over its stdin and stdout.
#pragma once
#include "mcp/client/connect/connector.hpp"
#include "mcp/process/server_process.hpp"
#include "mcp/support/error.hpp"
#include "mcp/support/time.hpp"

#include <cstddef>
#include <functional>
#include <memory>
#include <string>

namespace mcpbx::mcp {

/// Gives the process to run, or why there is none. Called anew for every start, on the speaking thread; the answer may
/// come at once or later (resolving references may run commands on a lane).
using process_source = std::function<void(std::function<void(result<process_spec>)> then)>;

/// Ends a process as MCP's stdio transport says: stdin is closed (ask), SIGTERM (insist), SIGKILL (force), both to its
/// group. Keeps the last `stderr_ring` bytes of stderr. `launcher` and `time` must outlive the connector and its links;
/// `server` is its name for texts.
std::unique_ptr<connector> make_process_connector(std::string server, process_launcher& launcher, time_source& time,
                                                  process_source source, std::size_t stderr_ring = 64u << 10);

}  // namespace mcpbx::mcp

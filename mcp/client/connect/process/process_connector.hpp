// The connector to a tool server that is a child process and speaks over stdin and stdout.
#pragma once
#include "mcp/client/connect/connector.hpp"
#include "mcp/client/stderr_lines.hpp"
#include "mcp/process/server_process.hpp"
#include "mcp/support/error.hpp"
#include "mcp/support/time.hpp"

#include <cstddef>
#include <functional>
#include <memory>
#include <string>

namespace mcpbx::mcp::child {

/// Passes the spec of the process to run, or an error, to `then`. Called on the speaking thread for every start. The
/// answer may come at once or later, since resolving references may run commands on a lane.
using process_source = std::function<void(std::function<void(result<process::process_spec>)> then)>;

/// Returns a connector that ends its process as MCP's stdio transport says: closed stdin (ask), SIGTERM (insist),
/// SIGKILL (force). Texts call the server `server`; `launcher` and `time` must outlive the connector and its links.
std::unique_ptr<connect::connector> make_process_connector(std::string server, process::process_launcher& launcher,
                                                           time_source& time, process_source source,
                                                           std::shared_ptr<clients::stderr_lines> lines = nullptr,
                                                           std::size_t stderr_ring = 16u << 10);

}  // namespace mcpbx::mcp::child

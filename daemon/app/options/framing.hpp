// The bounds of the messages that the daemon reads, as `limits` of the configuration sets them.
#pragma once
#include "conf/model/model.hpp"
#include "mcp/rpc/line_framer.hpp"

namespace mcpbx::daemon {

/// Returns the framing for tool servers, whose invalid UTF-8 is repaired.
mcp::line_framer::options server_framing(const conf::configuration& config);
/// Returns the framing for callers, who get an error for invalid UTF-8.
mcp::line_framer::options caller_framing(const conf::configuration& config);

}  // namespace mcpbx::daemon

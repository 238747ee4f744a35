// The bounds of the messages that the daemon reads, as `limits` of the configuration sets them.
#pragma once
#include "conf/model/model.hpp"
#include "mcp/rpc/line_framer.hpp"

namespace mcpbx::daemon::options {

/// Returns the framing for tool servers, whose invalid UTF-8 is repaired.
mcp::rpc::line_framer::options server_framing(const conf::model::configuration& config);
/// Returns the framing for callers, who get an error for invalid UTF-8.
mcp::rpc::line_framer::options caller_framing(const conf::model::configuration& config);

}  // namespace mcpbx::daemon::options

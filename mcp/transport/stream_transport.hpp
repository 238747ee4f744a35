// Newline-delimited JSON-RPC over descriptors: the two pipe ends of a tool server, or one Unix socket. Reads at most 64
// KiB a turn into a buffer that all connections share, and gathers the writes of a turn.
#pragma once
#include "mcp/rpc/line_framer.hpp"
#include "mcp/transport/transport.hpp"

#include <boost/asio/any_io_executor.hpp>

#include <memory>

namespace mcpbx::mcp::transports {

/// Returns a transport over both descriptors, which may be the same socket. Takes ownership of them and sets them
/// non-blocking and close-on-exec.
std::unique_ptr<transport> make_stream_transport(boost::asio::any_io_executor executor, int read_fd, int write_fd,
                                                 rpc::line_framer::options framing);

}  // namespace mcpbx::mcp::transports

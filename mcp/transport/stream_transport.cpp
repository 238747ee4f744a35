// Makes stream transports. The work is done in stream_core.
#include "mcp/transport/stream_transport.hpp"

#include "mcp/transport/stream_core.hpp"

#include <utility>

namespace mcpbx::mcp::transports {

std::unique_ptr<transport> make_stream_transport(boost::asio::any_io_executor executor, int read_fd, int write_fd,
                                                 rpc::line_framer::options framing) {
  return std::make_unique<stream_handle>(std::make_shared<stream_core>(executor, read_fd, write_fd, framing));
}

}  // namespace mcpbx::mcp::transports

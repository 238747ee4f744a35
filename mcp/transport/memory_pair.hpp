// Two connected transports without a descriptor, for tests of everything above: messages pass as text through the same
// framer, delivered in order from the given executor's queue.
#pragma once
#include "mcp/transport/transport.hpp"

#include <boost/asio/any_io_executor.hpp>

#include <memory>
#include <utility>

namespace mcpbx::mcp {

std::pair<std::unique_ptr<transport>, std::unique_ptr<transport>> make_memory_pair(
    const boost::asio::any_io_executor& executor, line_framer::options framing = {});

}  // namespace mcpbx::mcp

// Two connected transports without a descriptor, for tests of everything above: messages pass one by one, without any
// framing, and are checked at the other end as those of a stream are. Delivered in order from the executor's queue.
#pragma once
#include "mcp/transport/transport.hpp"

#include <boost/asio/any_io_executor.hpp>

#include <memory>
#include <utility>

namespace mcpbx::mcp {

std::pair<std::unique_ptr<transport>, std::unique_ptr<transport>> make_memory_pair(
    const boost::asio::any_io_executor& executor);

}  // namespace mcpbx::mcp

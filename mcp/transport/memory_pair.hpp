// A connected pair of transports in memory, for tests. Messages pass one by one without framing, in order, from the
// executor's queue, and are checked at the receiving end as those of a stream are.
#pragma once
#include "mcp/transport/transport.hpp"

#include <boost/asio/any_io_executor.hpp>

#include <memory>
#include <utility>

namespace mcpbx::mcp::transports {

/// Returns two transports that face each other. Events come in later turns of `executor`.
std::pair<std::unique_ptr<transport>, std::unique_ptr<transport>> make_memory_pair(
    const boost::asio::any_io_executor& executor);

}  // namespace mcpbx::mcp::transports

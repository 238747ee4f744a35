// The loop of the speaking thread, with a boundary for what escapes a handler.
#pragma once
#include <boost/asio/io_context.hpp>

#include <functional>

namespace mcpbx::daemon {

/// Exceptions out of the loop, of which the first one stops the daemon.
constexpr int most_bugs = 16;

/// Runs `io` until it ends, and gives how many exceptions escaped its handlers: each is a bug of ours and logged, and
/// `stop` is called for it, inside no handler. With the last of most_bugs it gives up at once: the stop does not get
/// on.
int run_loop(boost::asio::io_context& io, const std::function<void()>& stop);

}  // namespace mcpbx::daemon

// The event loop of the main thread, which catches exceptions that escape a handler.
#pragma once
#include <boost/asio/io_context.hpp>

#include <functional>

namespace mcpbx::daemon::process {

/// Most exceptions out of the loop; the first one already stops the daemon.
constexpr int most_bugs = 16;

/// Runs `io` until it ends and returns the number of exceptions that escaped its handlers. Each is a bug: it is logged,
/// and `stop` is called outside of any handler. Returns at once after most_bugs exceptions.
int run_loop(boost::asio::io_context& io, const std::function<void()>& stop);

}  // namespace mcpbx::daemon::process

// Running of the event loop again after an exception.
#include "daemon/app/process/run_loop.hpp"

#include "mcp/support/log.hpp"

#include <exception>
#include <string>

namespace mcpbx::daemon::process {

int run_loop(boost::asio::io_context& io, const std::function<void()>& stop) {
  // The loop continues after an exception, so that acknowledged data is kept and tool servers end in order.
  for (int bugs = 0;;) {
    try {
      io.run();
      return bugs;
    } catch (const std::exception& e) {
      log::error(std::string("an internal error, please report it: ") + e.what());
    } catch (...) {
      log::error("an internal error, please report it: an unknown exception");
    }
    if (++bugs == most_bugs) return bugs;
    stop();
  }
}

}  // namespace mcpbx::daemon::process

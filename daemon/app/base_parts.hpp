// The parts that all others of the daemon depend on: the log, the event loop, the clock, and the request to stop.
#pragma once
#include "conf/model/model.hpp"
#include "daemon/app/process/log_writer.hpp"
#include "daemon/app/process/options.hpp"
#include "mcp/async/keyed_lanes.hpp"
#include "mcp/async/lane.hpp"
#include "mcp/async/system_time.hpp"
#include "mcp/http/client/http_client.hpp"

#include <boost/asio/any_io_executor.hpp>
#include <boost/asio/io_context.hpp>
#include <boost/asio/signal_set.hpp>

#include <functional>
#include <string>

namespace mcpbx::daemon::app {

/// A request that the daemon stops. Any part may express it; the part that is built last carries it out.
class stop_wish {
 public:
  using carrier = std::function<void(const std::string& why)>;

  /// Calls the carrier, or keeps the request until carried_out_by() is called.
  void express(const std::string& why);
  /// Sets the carrier. Calls it at once if a stop was requested before.
  void carried_out_by(carrier carry_out);

 private:
  carrier carry_out_;
  std::string kept_;
};

struct base_parts {
  /// Installs the log, bounds the bytes of requests, and queues the signals in `signals` instead of letting them end
  /// the process.
  base_parts(const process::command_line& o, const conf::model::configuration& config);

  boost::asio::any_io_executor executor() { return io.get_executor(); }

  process::log_writer log;
  boost::asio::io_context io{1};
  async::system_time time{io.get_executor()};
  async::system_random random;
  boost::asio::signal_set signals{io};
  stop_wish stop;
};

/// Threads for blocking work.
struct blocking_lanes {
  explicit blocking_lanes(base_parts& base)
      : references(base.executor(), "references"), keys(base.executor(), "keys") {}

  async::keyed_lanes references;  ///< of tool servers, by server
  async::keyed_lanes keys;        ///< of models, by entry
  async::lane compute{"compute", 1};
};

/// Returns the options of the HTTP client. Proxies come from the process's variables; the configuration has no keys for
/// them.
http::clients::client::options http_options();

}  // namespace mcpbx::daemon::app

// Keeps the pins in their file and decides what is offered: the shell around pins.hpp. What reads, hashes and writes
// has a lane of its own, whose thread lives while there is work.
#pragma once
#include "daemon/guard/pins/pin_register.hpp"
#include "daemon/guard/pins/pin_worker.hpp"
#include "mcp/client/catalog/definition_gate.hpp"
#include "mcp/support/time.hpp"

#include <boost/asio/any_io_executor.hpp>

#include <functional>
#include <memory>
#include <string>
#include <vector>

namespace mcpbx::daemon {

class pin_keeper final : public mcp::definition_gate, public pin_register {
 public:
  struct options {
    result<std::string> path;            ///< of the file, or why there is no place for it
    std::vector<pinned_server> servers;  ///< all that are configured
  };

  /// Touches no file and starts no thread until a server that is not `off` lists tools. `time` must outlive it.
  pin_keeper(boost::asio::any_io_executor executor, time_source& time, options o);
  /// Waits for what the lane does now; nobody is told any more.
  ~pin_keeper() override;

  /// As pin_worker decides. Lists of a server that is `off` and has no plain names, or is not configured, are offered
  /// at once.
  void judge(const std::string& server, const mcp::feature_kind& kind, mcp::feature_list list,
             std::function<void(mcp::definition_decision)> decided) override;
  /// Plain names that nobody has are given for good from now on.
  void settled() override;
  void list(pin_choice which, bool definitions, std::function<void(pin_report)> then) override;
  void accept(pin_choice which, std::string sha256, std::function<void(result<std::size_t>)> then) override;

 private:
  class impl;
  std::shared_ptr<impl> impl_;
};

}  // namespace mcpbx::daemon

// Keeps the pins in their file and decides which tools are offered; pins.hpp has the rules. Reading, hashing and
// writing happen on a lane whose thread lives while there is work.
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

namespace mcpbx::daemon::pins {

class pin_guard final : public mcp::catalogs::definition_gate, public pin_register {
 public:
  struct options {
    result<std::string> path;            ///< path of the file, or the reason why there is none
    std::vector<pinned_server> servers;  ///< all configured servers
  };

  /// Touches no file and starts no thread until a server that is not `off` lists tools. `time` must outlive the keeper.
  pin_guard(boost::asio::any_io_executor executor, time_source& time, options o);
  /// Waits for the present job of the lane; calls no callback any more.
  ~pin_guard() override;

  /// Replaces the configured servers; to be called before the supervisor gets them. A server that stays the same keeps
  /// its list and the decision about it; one with another origin or mode is judged anew.
  void set_servers(std::vector<pinned_server> servers);

  /// Judges a list by pin_worker. Offers it at once if it is not one of tools, or its server is not
  /// configured, or is `off` and has no plain names.
  void judge(const std::string& server, const mcp::protocol::feature_kind& kind, mcp::protocol::feature_list list,
             std::function<void(mcp::catalogs::definition_decision)> decided) override;
  /// Makes assignments of free plain names permanent from now on.
  void settled() override;
  void list(pin_choice which, bool definitions, std::function<void(pin_report)> then) override;
  void accept(pin_choice which, std::string sha256, std::function<void(result<std::size_t>)> then) override;

 private:
  class impl;
  std::shared_ptr<impl> impl_;
};

}  // namespace mcpbx::daemon::pins

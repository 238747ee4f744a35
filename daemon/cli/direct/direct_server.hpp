// A tool server of the configuration, started by this command and talked to without a daemon.
#pragma once
#include "conf/model/model.hpp"
#include "daemon/cli/direct/guarded_process.hpp"
#include "daemon/cli/direct/line_peer.hpp"
#include "mcp/support/error.hpp"

#include <chrono>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

namespace mcpbx::cli::direct {

/// Returns the folder of this program, where the bundled toolbox and mcpbxd are as well.
std::string own_program_folder();

class direct_server {
 public:
  /// Starts the program of an entry with its own environment, as the daemon would from here, and makes the handshake
  /// within `at_most`. Resolves references, and so runs programs of ${cmd:…}. The error is a sentence about the server.
  static result<std::unique_ptr<direct_server>> start(const conf::model::server_entry& entry,
                                                      std::chrono::milliseconds at_most);

  /// Returns the number of tools that it lists, in at most 100 pages.
  result<std::size_t> count_tools(line_peer::time_point deadline);
  /// Returns the params of a call, as the server wants them.
  std::string call_params(std::string_view tool, std::string_view arguments) const;
  line_peer& peer() noexcept { return peer_; }

 private:
  direct_server(guarded_process process)
      : process_(std::move(process)), peer_(process_.input(), process_.output(), process_.errors()) {}
  result<void> shake_hands(line_peer::time_point deadline);
  std::string with_meta(std::string_view params) const;
  error explained(const error& why, std::string_view during);

  guarded_process process_;
  line_peer peer_;
  bool modern_ = false;
};

}  // namespace mcpbx::cli::direct

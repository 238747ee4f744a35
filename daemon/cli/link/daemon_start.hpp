// Finds or starts the daemon that a verb talks to.
#pragma once
#include "daemon/cli/link/daemon_connection.hpp"
#include "mcp/socket/private_folder.hpp"
#include "mcp/support/error.hpp"

#include <sys/types.h>

#include <memory>
#include <string>
#include <string_view>

namespace mcpbx::cli {

/// The options that stand before a verb.
struct place {
  std::string socket;  ///< --socket, or ""
  std::string config;  ///< --config, or ""
  bool standalone = false;
};

/// A private daemon (`--standalone`), ended and reaped by the destructor, and its folder, removed then.
class private_daemon {
 public:
  private_daemon() = default;
  private_daemon(pid_t pid, mcp::private_folder folder) : pid_(pid), folder_(std::move(folder)) {}
  private_daemon(private_daemon&& other) noexcept;
  private_daemon& operator=(private_daemon&& other) noexcept;
  ~private_daemon();

 private:
  pid_t pid_ = -1;
  mcp::private_folder folder_;
};

struct connected {
  connection link;
  private_daemon own;  ///< holds nothing unless --standalone
};

/// The socket that `p` and the environment name, and whether it is the default one.
struct socket_choice {
  std::string path;
  bool is_default = false;
};
result<socket_choice> choose_socket(const place& p);
/// Connects there or, where that is the default place and nobody answers, to the daemon that a link in the state folder
/// leads to: it was started with other variables.
result<int> connect_to(const socket_choice& where);

/// Connects; starts a daemon when `may_start` and none answers at the default socket. errc::unavailable: no daemon
/// (exit status 3); errc::config: the daemon refused to start, its words are in the message (exit status 2).
result<connected> connect(const place& p, bool may_start);

}  // namespace mcpbx::cli

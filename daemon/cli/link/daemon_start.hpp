// Finds or starts the daemon that a verb talks to.
#pragma once
#include "daemon/cli/link/daemon_connection.hpp"
#include "mcp/socket/private_folder.hpp"
#include "mcp/support/error.hpp"

#include <sys/types.h>

#include <memory>
#include <string>
#include <string_view>

namespace mcpbx::cli::link {

/// Options before a verb that select the daemon.
struct place {
  std::string socket;  ///< --socket, or ""
  std::string config;  ///< --config, or ""
  bool standalone = false;
};

/// A private daemon (`--standalone`) and its folder. The destructor ends and reaps it and removes the folder.
class private_daemon {
 public:
  private_daemon() = default;
  private_daemon(pid_t pid, mcp::socket::private_folder folder) : pid_(pid), folder_(std::move(folder)) {}
  private_daemon(private_daemon&& other) noexcept;
  private_daemon& operator=(private_daemon&& other) noexcept;
  ~private_daemon();

 private:
  pid_t pid_ = -1;
  mcp::socket::private_folder folder_;
};

struct connected {
  daemon_connection link;
  private_daemon own;    ///< holds nothing unless --standalone
  bool started = false;  ///< this command started the daemon, or found it just started by another one
};

/// Returns the socket that `p` and the environment name, with a flag for the default one.
struct socket_choice {
  std::string path;
  bool is_default = false;
};
result<socket_choice> choose_socket(const place& p);
/// Connects to the socket. If it is the default one and nobody answers, follows the link `running` in the state folder
/// to a daemon that was started with other variables.
result<int> connect_to(const socket_choice& where);

/// Connects, and starts a daemon if `may_start` and none answers at the default socket. errc::unavailable: no daemon
/// (exit status 3); errc::config: the daemon refused to start, with its words in the message (exit status 2).
result<connected> connect(const place& p, bool may_start);

}  // namespace mcpbx::cli::link

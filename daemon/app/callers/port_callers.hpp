// Admission of callers: by what the system knows of their process, and of connections on the port.
#pragma once
#include "mcp/async/lane.hpp"
#include "mcp/process/keeper/keeper.hpp"
#include "mcp/socket/tcp_peer.hpp"
#include "mcp/support/error.hpp"
#include "mcp/support/time.hpp"

#include <boost/asio/any_io_executor.hpp>

#include <sys/types.h>

#include <deque>
#include <functional>
#include <memory>
#include <optional>
#include <string>

namespace mcpbx::daemon {

/// The name of a tool server that may call, "" for a program that is none of ours, or the sentence for who may not come
/// in. Whoever cannot be known may not.
result<std::string> admitted(const mcp::process_owner& owner);

/// The same of a connection on the port whose program cannot be found, by the user whose socket it is. Programs of
/// other users cannot be looked into; while one below this process cannot be either (sudo, a setuid program), it may be
/// that.
result<std::string> admitted_unseen(uid_t socket_of, bool hidden_below);
/// Whether there is a process below this one that may not be looked into.
bool has_hidden_below();

/// Finds the processes behind connections of the port. Reading /proc takes milliseconds, so that a lane does it.
class port_callers {
 public:
  using answer = std::function<void(result<std::string>)>;
  using owner_question = std::function<mcp::process_owner(pid_t)>;
  /// Questions at once; more are refused.
  static constexpr std::size_t most = 256;

  /// `not_known_yet`: the process belongs to a server whose start the keeper has yet to report; then the question is
  /// asked again for as long as early_callers would wait. `work` and `time` must outlive this.
  port_callers(boost::asio::any_io_executor executor, lane& work, time_source& time, owner_question owner_of,
               std::function<bool(pid_t)> not_known_yet);

  /// `then` comes in a later turn, or not at all when this is gone by then.
  void ask(const mcp::tcp_ends& ends, answer then);

 private:
  struct found {
    mcp::tcp_peer socket;
    std::optional<pid_t> holder;
    std::uint64_t holder_start = 0;
    bool hidden_below = false;  ///< asked where there is no holder
  };
  struct state;
  static void look(const std::shared_ptr<state>& s, const mcp::tcp_ends& ends, time_point until, answer then);
  static result<std::string> judge(state& s, const std::optional<found>& f);

  std::shared_ptr<state> state_;
};

}  // namespace mcpbx::daemon

// Admission of callers by their process, and the search for the processes behind connections on the port.
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

namespace mcpbx::daemon::callers {

/// Returns the name of a tool server that may call, "" for a program that is no tool server, or an error with the
/// sentence for a caller that is refused. A process that cannot be identified is refused.
result<std::string> admitted(const mcp::keepers::process_owner& owner);

/// Decides about a connection on the port whose program was not found, by the user that owns its socket. Refuses it if
/// a program below this process cannot be inspected (sudo, setuid), as it may be that one.
result<std::string> admitted_unseen(uid_t socket_of, bool hidden_below);
/// Returns true if a process below this one may not be inspected.
bool has_hidden_below();

/// Finds the processes behind connections on the port, on a worker thread because reading /proc takes milliseconds.
class port_callers {
 public:
  using answer = std::function<void(result<std::string>)>;
  using owner_question = std::function<mcp::keepers::process_owner(pid_t)>;
  /// Most questions at once; more are refused.
  static constexpr std::size_t most = 256;

  /// `not_known_yet` returns true if the process belongs to a server whose start the keeper has yet to report; the
  /// question is then repeated for as long as early_callers would wait. `work` and `time` must outlive this object.
  port_callers(boost::asio::any_io_executor executor, async::lane& work, time_source& time, owner_question owner_of,
               std::function<bool(pid_t)> not_known_yet);

  /// Calls `then` in a later turn, or never if this object is destroyed before.
  void ask(const mcp::socket::tcp_ends& ends, answer then);

 private:
  struct found {
    mcp::socket::tcp_peer socket;
    std::optional<pid_t> holder;
    std::uint64_t holder_start = 0;
    bool hidden_below = false;  ///< a hidden process exists below the daemon; read only if there is no holder
  };
  struct state;
  static void look(const std::shared_ptr<state>& s, const mcp::socket::tcp_ends& ends, time_point until, answer then);
  static result<std::string> judge(state& s, const std::optional<found>& f);

  std::shared_ptr<state> state_;
};

}  // namespace mcpbx::daemon::callers

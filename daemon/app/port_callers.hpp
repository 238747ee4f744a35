// Admission of callers: by what the system knows of their process, and of connections on the port.
#pragma once
#include "mcp/async/lane.hpp"
#include "mcp/support/error.hpp"
#include "mcp/transport/keeper.hpp"
#include "mcp/transport/tcp_peer.hpp"

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

/// Finds the processes behind connections of the port. Reading /proc takes milliseconds, so that a lane does it.
class port_callers {
 public:
  using answer = std::function<void(result<std::string>)>;
  using owner_question = std::function<mcp::process_owner(pid_t)>;
  /// Questions at once; more are refused.
  static constexpr std::size_t most = 256;

  port_callers(boost::asio::any_io_executor executor, lane& work, owner_question owner_of);

  /// `then` comes in a later turn, or not at all when this is gone by then.
  void ask(const mcp::tcp_ends& ends, answer then);

 private:
  struct found {
    mcp::tcp_peer socket;
    std::optional<pid_t> holder;
    bool hidden_below = false;  ///< no holder, and a process of ours cannot be looked into: it may be that one
  };
  struct state {
    std::deque<pid_t> known;  // programs of others that have asked: they ask again
    std::size_t asked = 0;
    owner_question owner_of;
  };
  static result<std::string> judge(state& s, const std::optional<found>& f);

  boost::asio::any_io_executor executor_;
  lane& work_;
  std::shared_ptr<state> state_ = std::make_shared<state>();
};

}  // namespace mcpbx::daemon

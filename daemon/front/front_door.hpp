// The door: who may come in, how many, and everything they share. The listeners belong to daemon/app; what they accept
// comes here. On the Unix socket JSON-RPC and HTTP are told apart by the first byte; a port speaks HTTP only.
#pragma once
#include "daemon/front/rpc/rpc_caller.hpp"
#include "mcp/socket/tcp_peer.hpp"
#include "mcp/socket/unix_socket.hpp"

#include <boost/asio/any_io_executor.hpp>

#include <sys/types.h>

#include <cstddef>
#include <functional>
#include <memory>
#include <string>

namespace mcpbx::daemon {

class front_door {
 public:
  using options = door_context::options;
  /// Who the process behind a connection is: the name of a tool server of ours that may call, or "" for anybody else.
  /// An error's message is the sentence that it is sent. A tool server of ours is refused unless its entry says
  /// mayCall, and so is whoever cannot be known (docs/guarantees.md, G42).
  using admission = std::function<result<std::string>(const mcp::peer_credentials&)>;
  /// The same of a connection on the port. `then` comes once, at once or in a later turn.
  using port_admission = std::function<void(const mcp::tcp_ends&, std::function<void(result<std::string>)> then)>;

  /// `daemon` must outlive the door.
  front_door(boost::asio::any_io_executor executor, time_source& time, backend& daemon, options o,
             admission admit = {});
  ~front_door();
  front_door(const front_door&) = delete;
  front_door& operator=(const front_door&) = delete;

  /// Takes over what the Unix socket accepted. Whoever may not come in gets one error line and is closed.
  void accept(int fd, const mcp::peer_credentials& peer);
  /// The same for a transport that speaks JSON-RPC.
  void accept(std::unique_ptr<mcp::transport> transport, const mcp::peer_credentials& peer);

  /// What is asked of callers on the TCP port at `address`; the token is in `token_file`, or "". Before the first
  /// answer `who` is asked about each; unset: nobody is.
  void serves_port(const std::string& address, http_rules rules, const std::string& token_file,
                   port_admission who = {});
  /// Takes over what the TCP port accepted; `from` is the caller's address, for the log.
  void accept_on_port(int fd, const std::string& from);

  std::size_t callers() const noexcept;
  /// `changed` is called, in a turn of its own, after a caller came or left.
  void on_callers(std::function<void(std::size_t)> changed);
  raw_json status();
  /// From now on tools/call is refused; calls and runs that go on are left alone. (The runner refuses new runs.)
  void refuse_calls() noexcept;
  /// Closes every connection; later ones are refused.
  void close();

 private:
  struct state;
  std::shared_ptr<state> state_;
};

}  // namespace mcpbx::daemon

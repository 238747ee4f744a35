// Admission of callers, their number, and everything they share. The listeners belong to daemon/app, which passes
// accepted connections here. On the Unix socket the first byte tells JSON-RPC and HTTP apart; a port speaks HTTP only.
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

namespace mcpbx::daemon::door {

class front_door {
 public:
  using options = front::door_context::options;
  /// Returns the name of the tool server behind a connection, or "" for another program. The error's message is sent to
  /// a refused caller. A tool server is refused unless its entry says mayCall, and so is an unidentified process
  /// (docs/guarantees.md, G42).
  using admission = std::function<result<std::string>(const mcp::socket::peer_credentials&)>;
  /// Identifies callers on the port. Calls `then` once, at once or in a later turn.
  using port_admission =
      std::function<void(const mcp::socket::tcp_ends&, std::function<void(result<std::string>)> then)>;

  /// `daemon` must outlive the door.
  front_door(boost::asio::any_io_executor executor, time_source& time, front::backend& daemon, options o,
             admission admit = {});
  ~front_door();
  front_door(const front_door&) = delete;
  front_door& operator=(const front_door&) = delete;

  /// Takes over a connection of the Unix socket. A refused caller gets one error line and is closed.
  void accept(int fd, const mcp::socket::peer_credentials& peer);
  /// Takes over a transport that speaks JSON-RPC.
  void accept(std::unique_ptr<mcp::transports::transport> transport, const mcp::socket::peer_credentials& peer);

  /// Sets the rules for callers on the TCP port at `address`; `token_file` is the token's file, or "". `who` identifies
  /// each before its first answer; unset: callers are not identified.
  void serves_port(const std::string& address, front::http_rules rules, const std::string& token_file,
                   port_admission who = {});
  /// Takes over a connection of the TCP port; `from` is the caller's address, for the log.
  void accept_on_port(int fd, const std::string& from);

  /// Tells callers whose profile shows other lists since the configuration was replaced.
  void configuration_replaced();

  std::size_t callers() const noexcept;
  /// Sets a function that is called, in a turn of its own, after a caller came or left.
  void on_callers(std::function<void(std::size_t)> changed);
  json::raw_json status();
  /// Refuses calls from now on and ends streams of notifications; running calls and runs continue, and questions of
  /// theirs are answered. (The runner refuses new runs.)
  void refuse_calls();
  /// Closes every connection and refuses later ones.
  void close();

 private:
  struct state;
  std::shared_ptr<state> state_;
};

}  // namespace mcpbx::daemon::door

// The Unix socket's door: who may come in, how many, and everything they share. The listener belongs to daemon/app;
// what it accepts comes here.
#pragma once
#include "daemon/front/connection.hpp"
#include "mcp/transport/unix_socket.hpp"

#include <boost/asio/any_io_executor.hpp>

#include <sys/types.h>

#include <cstddef>
#include <functional>
#include <memory>
#include <unordered_map>

namespace mcpbx::daemon {

class rpc_door {
 public:
  using options = door_context::options;
  /// Whether the process behind a connection may come in; the error's message is the sentence that it is sent
  /// (guarantees: a tool server of ours is refused unless its entry says mayCall).
  using admission = std::function<result<void>(pid_t)>;

  /// `daemon` must outlive the door.
  rpc_door(boost::asio::any_io_executor executor, time_source& time, backend& daemon, options o, admission admit = {});
  ~rpc_door();
  rpc_door(const rpc_door&) = delete;
  rpc_door& operator=(const rpc_door&) = delete;

  /// Takes over an accepted descriptor. Whoever may not come in gets one error line and is closed.
  void accept(int fd, mcp::peer_credentials peer);
  /// The same for any transport.
  void accept(std::unique_ptr<mcp::transport> transport, mcp::peer_credentials peer);

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

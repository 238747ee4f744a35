// A caller whose protocol is unknown yet: its first byte decides. The byte stays in the socket, so that the reader of
// the protocol gets everything.
#pragma once
#include "daemon/front/base/caller.hpp"

#include <boost/asio/any_io_executor.hpp>
#include <boost/asio/posix/stream_descriptor.hpp>

#include <functional>
#include <memory>
#include <string_view>

namespace mcpbx::daemon::door {

enum class caller_protocol { json_rpc, http };

/// Returns HTTP for a letter, which begins a request line; any other byte is JSON-RPC's, which reports errors itself.
constexpr caller_protocol protocol_of(char first) {
  return (first >= 'A' && first <= 'Z') || (first >= 'a' && first <= 'z') ? caller_protocol::http
                                                                          : caller_protocol::json_rpc;
}

class new_caller final : public front::caller, public std::enable_shared_from_this<new_caller> {
 public:
  /// Called once, unless the new_caller was closed before. `fd` is its socket, or -1 if the peer has left. The
  /// new_caller is then done.
  using spoken = std::function<void(new_caller& self, int fd, caller_protocol speaks)>;
  /// Takes ownership of the connected socket.
  new_caller(const boost::asio::any_io_executor& executor, int fd, spoken told);

  void start() override { wait(); }
  void close(std::string_view why) override;

 private:
  void wait();
  void look();

  boost::asio::posix::stream_descriptor socket_;
  spoken told_;
};

}  // namespace mcpbx::daemon::door

// A caller that has not said anything yet: its first byte tells which protocol it speaks. That byte stays
// unread, so that whoever serves the caller reads everything.
#pragma once
#include "daemon/front/base/caller.hpp"

#include <boost/asio/any_io_executor.hpp>
#include <boost/asio/posix/stream_descriptor.hpp>

#include <functional>
#include <memory>
#include <string_view>

namespace mcpbx::daemon {

enum class caller_protocol { json_rpc, http };

/// A letter begins a request line of HTTP; everything else is JSON-RPC's, which says what is wrong with it.
constexpr caller_protocol protocol_of(char first) {
  return (first >= 'A' && first <= 'Z') || (first >= 'a' && first <= 'z') ? caller_protocol::http
                                                                          : caller_protocol::json_rpc;
}

class new_caller final : public caller, public std::enable_shared_from_this<new_caller> {
 public:
  /// Told once, unless it was closed before: `fd` is its socket, -1 when it has left without a word. The new_caller is
  /// done with then.
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

}  // namespace mcpbx::daemon

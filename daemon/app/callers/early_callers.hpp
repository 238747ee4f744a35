// Callers that connect before the keeper has reported the process of their tool server. They wait briefly, so that they
// are not taken for processes of no known server.
#pragma once
#include "mcp/process/unique_fd.hpp"
#include "mcp/socket/peer_process.hpp"
#include "mcp/support/time.hpp"

#include <cstddef>
#include <functional>
#include <memory>
#include <vector>

namespace mcpbx::daemon::callers {

class early_callers {
 public:
  static constexpr milliseconds longest{1000}, between_looks{10};
  static constexpr std::size_t most =
      64;  ///< callers that wait; further ones enter at once and are judged by the facts known then

  /// `not_known_yet` returns true if the process belongs to a server whose start the keeper has yet to report. `enter`
  /// takes ownership of the descriptor. `time` must outlive this object.
  early_callers(time_source& time, std::function<bool(pid_t)> not_known_yet,
                std::function<void(int fd, mcp::socket::peer_credentials)> enter);

  void came(int fd, mcp::socket::peer_credentials peer);
  /// Closes the connections of all waiting callers.
  void close() { waiting_.clear(); }
  std::size_t waiting() const noexcept { return waiting_.size(); }

 private:
  struct one {
    mcp::process::unique_fd fd;
    mcp::socket::peer_credentials peer;
    time_point until;
  };
  void look();
  void arm();

  time_source& time_;
  std::function<bool(pid_t)> not_known_yet_;
  std::function<void(int, mcp::socket::peer_credentials)> enter_;
  std::vector<one> waiting_;
  std::unique_ptr<timer> timer_;
};

}  // namespace mcpbx::daemon::callers

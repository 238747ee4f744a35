// The protocol of a Linux service manager: readiness and signs of life (sd_notify), and a passed socket (LISTEN_FDS).
// They are datagrams and a few variables, so no library is linked for them.
#pragma once
#include "mcp/support/time.hpp"

#include <memory>
#include <optional>
#include <string_view>

namespace mcpbx::daemon::process {

/// Sends `state` (such as "READY=1") to $NOTIFY_SOCKET; does nothing without one.
void notify_service_manager(std::string_view state);
/// Returns true if systemd passed a socket to this process that nobody has taken.
bool is_socket_passed();
/// Returns the listening socket that systemd passed to this process (descriptor 3), if any. Clears the variables, so
/// that no child takes the socket for its own.
std::optional<int> take_passed_socket();
/// Tells callers that wait at the socket which systemd passed, if any, that the daemon cannot start, and why. Otherwise
/// systemd would start it again for them at once, and again. Takes the socket as take_passed_socket() does.
void refuse_passed_callers(std::string_view why);

/// Sends signs of life from the event loop, at half of the interval after which the service manager takes this process
/// for hung ($WATCHDOG_USEC, sd_watchdog_enabled(3)). Does nothing where none are asked for.
class watchdog {
 public:
  /// Clears the variables, so that no child answers for this process. `time` must outlive the object.
  explicit watchdog(time_source& time);

 private:
  void next();
  time_source& time_;
  milliseconds pause_{0};
  std::unique_ptr<timer> timer_;
};

}  // namespace mcpbx::daemon::process

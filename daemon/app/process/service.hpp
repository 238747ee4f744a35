// The protocol of a Linux service manager: readiness (sd_notify) and a passed socket (LISTEN_FDS). Both are a datagram
// and two variables, so no library is linked for them.
#pragma once
#include <optional>
#include <string_view>

namespace mcpbx::daemon {

/// Sends `state` (such as "READY=1") to $NOTIFY_SOCKET; does nothing without one.
void notify_service_manager(std::string_view state);
/// Returns the listening socket that systemd passed to this process (descriptor 3), if any. Clears the variables, so
/// that no child takes the socket for its own.
std::optional<int> take_passed_socket();

}  // namespace mcpbx::daemon

// What a Linux service manager wants of a daemon: readiness (sd_notify) and a socket passed in (LISTEN_FDS). Both are a
// datagram and two variables, so no library is linked for them.
#pragma once
#include <optional>
#include <string_view>

namespace mcpbx::daemon {

/// Sends `state` (such as "READY=1") to $NOTIFY_SOCKET; does nothing without one.
void notify_service_manager(std::string_view state);
/// The listening socket that systemd passed to this process (descriptor 3), if it did. Clears the variables, so that no
/// child believes the socket is meant for it.
std::optional<int> take_passed_socket();

}  // namespace mcpbx::daemon

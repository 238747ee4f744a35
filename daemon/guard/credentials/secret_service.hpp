// The key of the credentials' file in the desktop's Secret Service. libsecret brings GLib and threads of its own, so it
// is loaded in a child process that prints the key and ends.
#pragma once
#include "mcp/support/error.hpp"

#include <chrono>
#include <string>

namespace mcpbx::daemon::credentials {

/// The option of mcpbxd that makes it such a child.
inline constexpr const char* secret_service_option = "--secret-service-key";

/// The child: prints the key in hexadecimal, made and stored if there was none. Returns the exit status: 1 if there is
/// no libsecret or no Secret Service, or it refuses.
int print_secret_service_key();

/// Asks for the key by a child of `program`, which is killed after `limit`. Blocks. errc::unavailable: there is no
/// session bus, or the child has no key.
result<std::string> ask_secret_service(const std::string& program, std::chrono::milliseconds limit);

}  // namespace mcpbx::daemon::credentials

// The daemon as a service of the person's own systemd: switching it on and off, and how it is.
#pragma once
#include "conf/environment.hpp"
#include "mcp/support/error.hpp"

#include <functional>
#include <string>
#include <vector>

namespace mcpbx::cli::service {

/// The end of a command: its exit status, -1 if it could not be run, and the beginning of what it printed.
struct command_end {
  int status = -1;
  std::string out;
};
/// Runs `systemctl --user WORDS…`.
using systemctl = std::function<command_end(const std::vector<std::string>& words)>;
/// Returns the systemctl of this system, found in /usr/bin and /bin; each command has 20 s.
systemctl real_systemctl();

/// State of the service. The words are systemd's own.
struct service_state {
  bool manager = false;         ///< there is a systemd of this person
  std::string socket_enabled;   ///< "enabled", "disabled", "" if there is no such unit
  std::string socket, service;  ///< "active", "inactive", "failed"
  std::string pid;              ///< of the daemon, or ""
  std::string file;             ///< of the socket's unit, or ""
};

class user_service {
 public:
  /// `program` is the absolute path of mcpbxd. `packaged` are the folders where packages put units.
  user_service(conf::environment env, systemctl run, std::string program,
               std::vector<std::string> packaged = {"/usr/lib/systemd/user", "/lib/systemd/user", "/etc/systemd/user"});

  /// Returns the state. Asks systemctl.
  service_state state() const;

  /// Writes what is missing and lets systemd listen at the socket from now on. Returns the files that were written.
  /// errc::unavailable: no systemd; errc::io: a file could not be written, is not ours, or systemctl failed.
  result<std::vector<std::string>> enable() const;
  /// Ends the service and removes the files that enable() wrote. Returns these. Errors as enable().
  result<std::vector<std::string>> disable() const;

 private:
  result<std::string> folder() const;
  result<void> order(const std::vector<std::string>& words) const;
  bool has_packaged_units() const;

  conf::environment env_;
  systemctl run_;
  std::string program_;
  std::vector<std::string> packaged_;
};

/// Returns mcpbxd beside this program.
std::string daemon_program();

}  // namespace mcpbx::cli::service

// One daemon per person: a link in the state folder leads daemons that start with other variables to the running one.
#pragma once
#include "conf/environment.hpp"
#include "mcp/process/unique_fd.hpp"
#include "mcp/support/error.hpp"

#include <string>
#include <vector>

namespace mcpbx::daemon::callers {

class running_link {
 public:
  /// Reserves the link for a daemon at the default socket `path`. errc::unavailable: another daemon of this user
  /// already answers at another path. Files that cannot be written are only logged.
  static result<running_link> take(const conf::environment& env, std::string path);
  running_link() = default;
  ~running_link();
  running_link(running_link&& other) noexcept;
  running_link& operator=(running_link&& other) noexcept;

  /// Creates the links and releases the lock for other daemons that start. To be called once the daemon listens.
  void show();

 private:
  std::vector<std::string> links_;
  std::string path_;
  mcp::process::unique_fd lock_;  // held until show(), so that one of two starting daemons sees the other
  bool shown_ = false;
};

}  // namespace mcpbx::daemon::callers

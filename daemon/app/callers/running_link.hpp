// One daemon per person: whoever starts with other variables finds the one that runs by a link in the state folder.
#pragma once
#include "conf/environment.hpp"
#include "mcp/process/unique_fd.hpp"
#include "mcp/support/error.hpp"

#include <string>
#include <vector>

namespace mcpbx::daemon {

class running_link {
 public:
  /// For a daemon at the default socket `path`. errc::unavailable: another one of this user answers already, at another
  /// place. What cannot be written is logged only.
  static result<running_link> take(const conf::environment& env, std::string path);
  running_link() = default;
  ~running_link();
  running_link(running_link&& other) noexcept;
  running_link& operator=(running_link&& other) noexcept;

  /// To be called when the daemon listens: makes the links, and lets others that start look.
  void show();

 private:
  std::vector<std::string> links_;
  std::string path_;
  mcp::unique_fd lock_;  // until show(), so that of two that start one sees the other
  bool shown_ = false;
};

}  // namespace mcpbx::daemon

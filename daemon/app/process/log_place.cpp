// Looks at the file behind stderr and at the control group of this process.
#include "daemon/app/process/log_place.hpp"

#include "daemon/app/process/stderr_file.hpp"
#include "mcp/support/text.hpp"

#include <sys/stat.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <string>
#include <system_error>

namespace mcpbx::daemon::process {
namespace {

/// Returns the control group of this process, such as "/user.slice/…/app.slice/mcpbx.service", or "".
std::string own_group() {
  std::ifstream in("/proc/self/cgroup");
  std::string line;
  while (std::getline(in, line))
    if (line.starts_with("0::")) return line.substr(3);
  return {};
}

}  // namespace

void tell_log_place(json::json_writer& out) {
  struct stat behind{};
  const bool known = ::fstat(STDERR_FILENO, &behind) == 0;
  if (stderr_is_journal()) {
    out.member("to", "journal").member("pid", ::getpid());
    const auto group = own_group();
    const auto unit = group.substr(group.find_last_of('/') + 1);
    if (unit.ends_with(".service")) out.member("unit", unit).member("user", group.starts_with("/user.slice/"));
  } else if (known && S_ISREG(behind.st_mode)) {
    std::error_code wrong;
    const auto path = std::filesystem::read_symlink("/proc/self/fd/2", wrong).string();
    out.member("to", "file").member("pid", ::getpid());
    if (!wrong && !path.ends_with(" (deleted)")) out.member("file", path);
  } else {
    out.member("to", ::isatty(STDERR_FILENO) == 1 ? "terminal" : "stderr").member("pid", ::getpid());
  }
}

}  // namespace mcpbx::daemon::process

// Modes are changed on the open file, so that nobody can put another one in its place meanwhile.
#include "daemon/cli/doctor/repairs.hpp"

#include "daemon/cli/doctor/gather.hpp"
#include "daemon/cli/doctor/words.hpp"
#include "mcp/json/json_writer.hpp"
#include "mcp/process/unique_fd.hpp"
#include "mcp/support/text.hpp"

#include <fcntl.h>
#include <sys/file.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>

namespace mcpbx::cli::doctor {
namespace {

error system_error(const std::string& what, int number) {
  return {errc::io, what + ": " + std::strerror(number)};
}

result<void> set_mode(const std::string& path, unsigned mode) {
  // O_PATH opens sockets and files that cannot be read as well. A link is refused.
  const mcp::process::unique_fd file(::open(path.c_str(), O_PATH | O_NOFOLLOW | O_CLOEXEC));
  struct stat s{};
  if (file.get() < 0 || ::fstat(file.get(), &s) != 0) return std::unexpected(system_error(path, errno));
  if (S_ISLNK(s.st_mode)) return fail(errc::io, path + " is a link; change the file that it leads to");
  if (s.st_uid != ::geteuid() && ::geteuid() != 0) return fail(errc::io, path + " belongs to another user");
  // Grants others no permission that they do not have, even if another file is there by now.
  const unsigned now = s.st_mode & 0777u, wanted = mode == 0100 ? now | 0100u : (now & mode) | (mode & 0700u);
  const std::string by_descriptor = "/proc/self/fd/" + std::to_string(file.get());
  if (::chmod(by_descriptor.c_str(), wanted) != 0) return std::unexpected(system_error("chmod " + path, errno));
  return {};
}

bool somebody_listens(const std::string& path) {
  sockaddr_un to{};
  to.sun_family = AF_UNIX;
  if (path.size() >= sizeof to.sun_path) return true;
  std::memcpy(to.sun_path, path.c_str(), path.size() + 1);
  const mcp::process::unique_fd probe(::socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0));
  if (probe.get() < 0) return true;
  return ::connect(probe.get(), reinterpret_cast<const sockaddr*>(&to), sizeof to) == 0 || errno != ECONNREFUSED;
}

// Removes a socket while holding the lock that daemons hold, so that no daemon can open it meanwhile.
result<void> remove_socket(const std::string& path) {
  const std::string lock_path = path + ".lock";
  const mcp::process::unique_fd lock(::open(lock_path.c_str(), O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW, 0600));
  if (lock.get() < 0) return std::unexpected(system_error(lock_path, errno));
  if (::flock(lock.get(), LOCK_EX | LOCK_NB) != 0)
    return fail(errc::unavailable, "a daemon holds " + lock_path + "; the socket stays");
  struct stat s{};
  if (::lstat(path.c_str(), &s) != 0) return {};
  if (!S_ISSOCK(s.st_mode)) return fail(errc::io, path + " is no socket any more");
  if (somebody_listens(path)) return fail(errc::unavailable, "somebody listens at " + path + "; the socket stays");
  if (::unlink(path.c_str()) != 0) return std::unexpected(system_error("rm " + path, errno));
  return {};
}

result<void> ask_daemon(const link::place& where, std::string_view method, const std::string& params) {
  auto made = link::connect(where, false);
  if (!made) return std::unexpected(made.error());
  if (!ask(made->link, method, params, std::chrono::milliseconds(15'000)))
    return fail(errc::peer, "the daemon refused it; `mcpbx servers` and `mcpbx reload` tell more");
  return {};
}

}  // namespace

std::string shown(const repair& r) {
  using enum repair::kind;
  switch (r.does) {
    case set_mode:
      return r.mode == 0100 ? "chmod u+x " + shell_word(r.on) : "chmod " + octal(r.mode) + " " + shell_word(r.on);
    case remove_socket:
      return "rm " + shell_word(r.on);
    case reload:
      return "mcpbx reload";
    case restart_server:
      return "mcpbx restart " + shell_word(r.on);
    case none:
      break;
  }
  return "";
}

result<void> carry_out(const repair& r, const link::place& place) {
  using enum repair::kind;
  switch (r.does) {
    case repair::kind::set_mode:
      return doctor::set_mode(r.on, r.mode);
    case repair::kind::remove_socket:
      return doctor::remove_socket(r.on);
    case reload:
      return ask_daemon(place, "mcpbx/reload", "{}");
    case restart_server: {
      std::string params;
      json::json_writer(params).begin_object().member("server", r.on).end_object();
      return ask_daemon(place, "mcpbx/restart", params);
    }
    case none:
      break;
  }
  return {};
}

}  // namespace mcpbx::cli::doctor

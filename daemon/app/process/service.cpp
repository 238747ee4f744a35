// sd_notify, LISTEN_FDS and WATCHDOG_USEC, as sd_notify(3), sd_listen_fds(3) and sd_watchdog_enabled(3) describe them.
#include "daemon/app/process/service.hpp"

#include "mcp/json/json_writer.hpp"
#include "mcp/redact/cut_text.hpp"

#include <fcntl.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include <algorithm>
#include <charconv>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <string>
#include <system_error>

namespace mcpbx::daemon::process {

void notify_service_manager(std::string_view state) {
  const char* path = std::getenv("NOTIFY_SOCKET");
  if (path == nullptr || (path[0] != '/' && path[0] != '@')) return;
  sockaddr_un address{};
  address.sun_family = AF_UNIX;
  const std::size_t length = std::strlen(path);
  if (length >= sizeof address.sun_path) return;
  std::memcpy(address.sun_path, path, length);
  if (address.sun_path[0] == '@') address.sun_path[0] = '\0';  // address in the abstract namespace
  const int fd = ::socket(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC, 0);
  if (fd < 0) return;
  // Ignores errors: a manager that does not listen is no reason to fail.
  (void)::sendto(fd, state.data(), state.size(), MSG_NOSIGNAL, reinterpret_cast<sockaddr*>(&address),
                 static_cast<socklen_t>(offsetof(sockaddr_un, sun_path) + length));
  ::close(fd);
}

bool is_socket_passed() {
  const char* pid = std::getenv("LISTEN_PID");
  const char* count = std::getenv("LISTEN_FDS");
  return pid != nullptr && count != nullptr && std::to_string(::getpid()) == pid && std::atoi(count) >= 1;
}

std::optional<int> take_passed_socket() {
  const bool ours = is_socket_passed();
  ::unsetenv("LISTEN_PID");
  ::unsetenv("LISTEN_FDS");
  ::unsetenv("LISTEN_FDNAMES");
  if (!ours) return std::nullopt;
  constexpr int first_passed = 3;
  ::fcntl(first_passed, F_SETFD, FD_CLOEXEC);
  return first_passed;
}

void refuse_passed_callers(std::string_view why) {
  constexpr int most = 64;  // callers; later ones start the daemon again
  constexpr int server_error = -32000;
  constexpr std::size_t shown = 2048;  // less than an empty socket takes, so that no caller can hold up the end
  const auto passed = take_passed_socket();
  if (!passed) return;
  while (why.ends_with('\n')) why.remove_suffix(1);
  // An error that answers no request: callers show it as the reason why the connection ends.
  std::string line;
  json::json_writer out(line);
  out.begin_object().member("jsonrpc", "2.0").key("id").token("null").key("error").begin_object();
  out.member("code", server_error)
      .member("message", redact::cut_for_people(why, shown, {.mark = "…", .keep_lines = true}))
      .end_object()
      .end_object();
  line += '\n';
  const int flags = ::fcntl(*passed, F_GETFL);
  if (flags < 0 || ::fcntl(*passed, F_SETFL, flags | O_NONBLOCK) != 0) return;
  for (int i = 0; i < most; ++i) {
    const int caller = ::accept4(*passed, nullptr, nullptr, SOCK_CLOEXEC | SOCK_NONBLOCK);
    if (caller < 0) break;
    // Other users hear nothing of the configuration.
    ucred who{};
    socklen_t size = sizeof who;
    if (::getsockopt(caller, SOL_SOCKET, SO_PEERCRED, &who, &size) == 0 && who.uid == ::geteuid())
      (void)::send(caller, line.data(), line.size(), MSG_NOSIGNAL);
    ::close(caller);
  }
}

watchdog::watchdog(time_source& time) : time_(time) {
  const char* pid = std::getenv("WATCHDOG_PID");
  const char* interval = std::getenv("WATCHDOG_USEC");
  const bool ours = interval != nullptr && (pid == nullptr || std::to_string(::getpid()) == pid);
  const std::string_view text = ours ? interval : "";
  std::int64_t us = 0;
  const auto read = std::from_chars(text.data(), text.data() + text.size(), us);
  ::unsetenv("WATCHDOG_PID");
  ::unsetenv("WATCHDOG_USEC");
  if (read.ec != std::errc() || read.ptr != text.data() + text.size() || us <= 0) return;
  pause_ = milliseconds(std::clamp<std::int64_t>(us / 2000, 1, 3'600'000));
  timer_ = time_.make_timer();
  next();
}

void watchdog::next() {
  notify_service_manager("WATCHDOG=1");
  timer_->arm(time_.now() + pause_, [this] { next(); });
}

}  // namespace mcpbx::daemon::process

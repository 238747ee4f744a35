// `mcpbx mcp`: the stdio shim for hosts that can only spawn servers. It passes bytes between the host and the socket,
// where the daemon is the MCP server. Before the host's first byte, the connection is restricted to MCP methods and to
// the profile.
#include "daemon/cli/base/daemon_calls.hpp"
#include "daemon/cli/base/verb.hpp"

#include <CLI/CLI.hpp>

#include <poll.h>
#include <sys/socket.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <memory>
#include <string>
#include <string_view>

namespace mcpbx::cli::verbs {
namespace {

int shim(context& c, const std::string& profile) {
  int code = 0;
  auto made = connect_or_explain(c, true, code, {.name = "mcpbx mcp", .profile = profile, .mcp_only = true});
  if (!made) return code;
  const int daemon = made->link.fd();

  static std::array<char, 65536> buffer;
  std::string to_daemon;  // bytes that the socket did not take yet; standard input is not read meanwhile
  bool open = true;
  // After the host has closed our stdin its open requests are still answered, each within its own limits. A host that
  // does not want to wait ends us or closes our stdout.
  for (;;) {
    const bool reading = open && to_daemon.empty();
    const auto wanted = static_cast<short>(to_daemon.empty() ? POLLIN : POLLIN | POLLOUT);
    std::array<pollfd, 3> ready{pollfd{daemon, wanted, 0}, pollfd{reading ? 0 : -1, POLLIN, 0},
                                pollfd{open ? -1 : 1, 0, 0}};
    if (::poll(ready.data(), ready.size(), -1) < 0) {
      if (errno == EINTR) continue;
      return terminals::no_answer;
    }
    if ((ready[2].revents & (POLLERR | POLLHUP)) != 0) return terminals::done;
    if ((ready[0].revents & ~POLLOUT) != 0) {
      const ssize_t n = ::read(daemon, buffer.data(), buffer.size());
      if (n < 0 && errno == EINTR) continue;
      if (n <= 0) {
        if (!open) return terminals::done;
        c.screen->error("the daemon closed the connection; `mcpbx logs` tells why");
        return terminals::no_daemon;
      }
      if (!c.screen->out_bytes({buffer.data(), static_cast<std::size_t>(n)})) return terminals::done;
    }
    if (reading && ready[1].revents != 0) {
      const ssize_t n = ::read(0, buffer.data(), buffer.size());
      if (n < 0 && errno == EINTR) continue;
      if (n > 0) {
        to_daemon.assign(buffer.data(), static_cast<std::size_t>(n));
      } else {
        open = false;
        ::shutdown(daemon, SHUT_WR);  // the daemon answers open requests and then closes
      }
    }
    if (!to_daemon.empty()) {
      const ssize_t n = ::send(daemon, to_daemon.data(), to_daemon.size(), MSG_NOSIGNAL | MSG_DONTWAIT);
      if (n < 0 && errno != EAGAIN && errno != EINTR) {
        if (!open) return terminals::done;
        c.screen->error("the daemon closed the connection; `mcpbx logs` tells why");
        return terminals::no_daemon;
      }
      if (n > 0) to_daemon.erase(0, static_cast<std::size_t>(n));
    }
  }
}

verb_action declare_mcp(CLI::App& page) {
  const auto profile = std::make_shared<std::string>();
  page.add_option("-p,--profile", *profile, "only the tools of this profile")->type_name("NAME");
  return [profile](context& c) { return shim(c, *profile); };
}

}  // namespace

verb verb_mcp() {
  return {
      .name = "mcp",
      .place = 14,
      .summary = "be one MCP server with all tools, on stdin and stdout",
      .more =
          R"(For MCP hosts that only spawn programs: command `mcpbx`, argument `mcp`. The host sees the tools of all servers as those of
one; several hosts share one daemon.

Example:
  mcpbx mcp --profile reader)",
      .declare = declare_mcp};
}

}  // namespace mcpbx::cli::verbs

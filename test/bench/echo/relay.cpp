// The floor of a hop: accepts one caller on a Unix socket, starts one tool server, and forwards lines with their id
// rewritten on the way there and back. It checks nothing, knows no tools and keeps no time: what a daemon costs more
// than this is the daemon's own.
//   bench_relay SOCKET COMMAND [ARGUMENT…]
#include "test/bench/line_stream.hpp"

#include <poll.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include <array>
#include <charconv>
#include <cstring>
#include <string>
#include <string_view>
#include <unordered_map>

namespace {

using mcpbx::bench::line_stream;

line_stream start_server(char** argv) {
  int there[2], back[2];
  if (::pipe(there) != 0 || ::pipe(back) != 0) ::_exit(1);
  if (::fork() == 0) {
    ::prctl(PR_SET_PDEATHSIG, SIGKILL);
    ::dup2(there[0], 0);
    ::dup2(back[1], 1);
    for (const int fd : {there[0], there[1], back[0], back[1]}) ::close(fd);
    ::execv(argv[0], argv);
    ::_exit(127);
  }
  ::close(there[0]);
  ::close(back[1]);
  return {back[0], there[1]};
}

line_stream accept_caller(const char* path) {
  sockaddr_un address{};
  address.sun_family = AF_UNIX;
  std::strncpy(address.sun_path, path, sizeof address.sun_path - 1);
  const int listener = ::socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
  if (::bind(listener, reinterpret_cast<sockaddr*>(&address), sizeof address) != 0 || ::listen(listener, 1) != 0)
    ::_exit(1);
  const int fd = ::accept(listener, nullptr, nullptr);
  ::close(listener);
  return {fd, fd};
}

// `line` with `id` in the place of its id token.
void forward(std::string_view line, std::string_view old_id, std::string_view id, std::string& out) {
  const auto at = static_cast<std::size_t>(old_id.data() - line.data());
  out += line.substr(0, at);
  out += id;
  out += line.substr(at + old_id.size());
  out += '\n';
}

}  // namespace

int main(int argc, char** argv) {
  if (argc < 3) return 2;
  ::signal(SIGPIPE, SIG_IGN);
  line_stream server = start_server(argv + 2);
  line_stream caller = accept_caller(argv[1]);
  std::unordered_map<long, std::string> open;
  long next = 0;
  for (;;) {
    std::array<pollfd, 4> ready{pollfd{caller.in(), POLLIN, 0}, pollfd{server.in(), POLLIN, 0},
                                pollfd{caller.unwritten() ? caller.out() : -1, POLLOUT, 0},
                                pollfd{server.unwritten() ? server.out() : -1, POLLOUT, 0}};
    if (::poll(ready.data(), ready.size(), -1) < 0) return 1;
    if (ready[0].revents != 0 && !caller.fill([&](std::string_view line) {
          const auto id = mcpbx::bench::id_of(line);
          if (id.empty()) {
            server.queue().append(line).append("\n");
            return;
          }
          open.emplace(++next, id);
          forward(line, id, std::to_string(next), server.queue());
        }))
      return 0;
    if (ready[1].revents != 0 && !server.fill([&](std::string_view line) {
          const auto id = mcpbx::bench::id_of(line);
          long number = 0;
          std::from_chars(id.data(), id.data() + id.size(), number);
          auto known = open.extract(number);
          if (!known.empty()) forward(line, id, known.mapped(), caller.queue());
        }))
      return 0;
    if (!server.flush() || !caller.flush()) return 0;
  }
}

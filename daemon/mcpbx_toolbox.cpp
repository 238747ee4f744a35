// mcpbx-toolbox: a small MCP server on stdin and stdout. Reads, feeds the core, writes; one thread, no event loop.
#include "daemon/toolbox/help.hpp"
#include "daemon/toolbox/server.hpp"

#include <signal.h>
#include <unistd.h>

#include <cerrno>
#include <chrono>
#include <string>
#include <string_view>
#include <vector>

namespace {

void write_all(int fd, std::string_view text) {
  while (!text.empty()) {
    const auto n = ::write(fd, text.data(), text.size());
    if (n < 0 && errno == EINTR) continue;
    if (n <= 0) ::_exit(0);  // nobody listens any more
    text.remove_prefix(static_cast<std::size_t>(n));
  }
}

int usage_error(const std::string& what) {
  write_all(2, "mcpbx-toolbox: " + what + "\n");
  return 2;
}

std::int64_t wall_ms() {
  using namespace std::chrono;
  return duration_cast<milliseconds>(system_clock::now().time_since_epoch()).count();
}

}  // namespace

int main(int argc, char** argv) {
  ::signal(SIGPIPE, SIG_IGN);
  std::vector<std::string> paths;
  bool options_end = false;
  for (int i = 1; i < argc; ++i) {
    const std::string_view argument(argv[i]);
    if (options_end || !argument.starts_with('-')) {
      paths.emplace_back(argument);
    } else if (argument == "--") {
      options_end = true;
    } else if (argument == "--help" || argument == "-h") {
      write_all(1, mcpbx::toolbox::help);
      return 0;
    } else if (argument == "--version") {
      write_all(1, "mcpbx-toolbox " MCPBX_VERSION "\n");
      return 0;
    } else {
      return usage_error("unknown option \"" + std::string(argument) + "\"; mcpbx-toolbox --help lists them.");
    }
  }
  auto folders = mcpbx::toolbox::folders::open(paths);
  if (!folders) return usage_error(folders.error().message);

  mcpbx::toolbox::server server({MCPBX_VERSION, wall_ms}, std::move(*folders));
  std::string buffer(64 << 10, '\0');
  for (;;) {
    const auto n = ::read(0, buffer.data(), buffer.size());
    if (n < 0 && errno == EINTR) continue;
    if (n <= 0) break;
    write_all(1, server.feed({buffer.data(), static_cast<std::size_t>(n)}));
  }
  write_all(1, server.finish());
  return 0;
}

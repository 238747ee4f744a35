// Reads byte by byte, so that nothing behind the line is taken.
#include "daemon/cli/terminal/read_line.hpp"

#include "daemon/cli/link/daemon_connection.hpp"

#include <poll.h>
#include <termios.h>
#include <unistd.h>

#include <array>
#include <cerrno>

namespace mcpbx::cli::terminals {
namespace {

// Waits for standard input. Returns false after an interrupt, or when the question is no longer open.
bool wait_for_key(const question_watch& watch) {
  for (;;) {
    std::array<pollfd, 2> wait{pollfd{STDIN_FILENO, POLLIN, 0}, pollfd{watch.fd, POLLIN, 0}};
    if (!link::wait_ready(wait)) return false;
    if (wait[1].revents != 0 && !watch.still_open()) return false;
    if (wait[0].revents != 0) return true;
  }
}

}  // namespace

bool can_ask() {
  return ::isatty(STDIN_FILENO) == 1 && ::isatty(STDERR_FILENO) == 1;
}

void drop_typed() {
  ::tcflush(STDIN_FILENO, TCIFLUSH);
}

std::expected<std::string, unanswered> read_line(const question_watch& watch, std::size_t most) {
  std::string line;
  for (;;) {
    char c = 0;
    if (!wait_for_key(watch))
      return std::unexpected(link::interrupted() ? unanswered::interrupted : unanswered::withdrawn);
    const auto n = ::read(STDIN_FILENO, &c, 1);
    if (n < 0 && errno == EINTR) continue;
    if (n <= 0) return std::unexpected(unanswered::end_of_input);
    if (c == '\n') return line;
    if (line.size() < most) line += c;
  }
}

}  // namespace mcpbx::cli::terminals

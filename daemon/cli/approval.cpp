// What tools and models wrote is made printable before a person decides by it: no escape sequence hides a part.
#include "daemon/cli/approval.hpp"

#include "daemon/cli/connection.hpp"
#include "mcp/support/text.hpp"

#include <poll.h>
#include <termios.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <expected>
#include <string>
#include <string_view>

namespace mcpbx::cli {
namespace {

constexpr std::size_t shown_at_first = 300;

enum class unanswered { end_of_input, interrupted, withdrawn };

// Waits for standard input; false when the question is open no more, or after an interrupt.
bool wait_for_key(const question_watch& watch) {
  for (;;) {
    std::array<pollfd, 2> wait{pollfd{STDIN_FILENO, POLLIN, 0}, pollfd{watch.fd, POLLIN, 0}};
    if (!wait_ready(wait)) return false;
    if (wait[1].revents != 0 && !watch.still_open()) return false;
    if (wait[0].revents != 0) return true;
  }
}

// One line from the terminal, without its end.
std::expected<std::string, unanswered> read_answer(const question_watch& watch) {
  std::string line;
  for (;;) {
    char c = 0;
    if (!wait_for_key(watch)) return std::unexpected(interrupted() ? unanswered::interrupted : unanswered::withdrawn);
    const ssize_t n = ::read(STDIN_FILENO, &c, 1);
    if (n < 0 && errno == EINTR) continue;
    if (n <= 0) return std::unexpected(unanswered::end_of_input);
    if (c == '\n') return line;
    if (line.size() < 64) line += c;
  }
}

std::string beginning(std::string_view arguments) {
  if (arguments.size() <= shown_at_first) return std::string(arguments);
  return std::string(cut_utf8(arguments, shown_at_first)) + "… (" + std::to_string(arguments.size()) +
         " bytes, s shows them)";
}

std::string lower(std::string_view text) {
  std::string out;
  for (char c : text)
    if (c != ' ' && c != '\t' && c != '\r') out += c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c;
  return out;
}

}  // namespace

bool can_ask() {
  return ::isatty(STDIN_FILENO) == 1 && ::isatty(STDERR_FILENO) == 1;
}

std::optional<approval> ask_person(terminal& screen, const raw_json& event, const question_watch& watch) {
  screen.clear_status();
  // What was typed before the question was there answers another one, or none.
  ::tcflush(STDIN_FILENO, TCIFLUSH);
  const std::string arguments(find_member(event, "arguments").text());
  const std::string reason = member_text(event, "reason");
  const std::string server = member_text(event, "server");
  std::string head = "call " + member_text(event, "tool") + " " + beginning(arguments);
  if (!server.empty()) head += "  (server " + server + ")";
  screen.err_line(screen.bold_err(printable(head)));
  if (!reason.empty()) screen.err_line(screen.dim(printable(reason)));
  for (;;) {
    screen.prompt("yes, no, always (for this run), show (the whole)? [y/N/a/s] ");
    const auto line = read_answer(watch);
    if (!line) {
      screen.err_line("");
      if (line.error() != unanswered::end_of_input) return std::nullopt;
      return approval{};
    }
    const auto word = lower(*line);
    if (word == "y" || word == "yes") return approval{true, false};
    if (word == "a" || word == "always") return approval{true, true};
    if (word.empty() || word == "n" || word == "no") return approval{};
    if (word == "s" || word == "show")
      screen.err_line(printable(arguments));
    else
      screen.err_line("write y, n, a or s");
  }
}

}  // namespace mcpbx::cli

// What tools and models wrote is made printable before a person decides by it: no escape sequence hides a part.
#include "daemon/cli/approval.hpp"

#include "daemon/cli/connection.hpp"
#include "mcp/support/text.hpp"

#include <poll.h>
#include <unistd.h>

#include <cerrno>
#include <string>
#include <string_view>

namespace mcpbx::cli {
namespace {

constexpr std::size_t shown_at_first = 300;

// One line from the terminal, without its end; nullopt at the end of input and after an interrupt.
std::optional<std::string> read_answer() {
  std::string line;
  for (;;) {
    char c = 0;
    if (!wait_ready(STDIN_FILENO, POLLIN)) return std::nullopt;
    const ssize_t n = ::read(STDIN_FILENO, &c, 1);
    if (n < 0 && errno == EINTR) continue;
    if (n <= 0) return std::nullopt;
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

std::optional<approval> ask_person(terminal& screen, const raw_json& event) {
  screen.clear_status();
  const std::string arguments(find_member(event, "arguments").text());
  const std::string reason = member_text(event, "reason");
  const std::string server = member_text(event, "server");
  std::string head = "call " + member_text(event, "tool") + " " + beginning(arguments);
  if (!server.empty()) head += "  (server " + server + ")";
  screen.err_line(screen.bold_err(printable(head)));
  if (!reason.empty()) screen.err_line(screen.dim(printable(reason)));
  for (;;) {
    screen.prompt("yes, no, always (for this run), show (the whole)? [y/N/a/s] ");
    const auto line = read_answer();
    if (!line) {
      screen.err_line("");
      if (interrupted()) return std::nullopt;
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

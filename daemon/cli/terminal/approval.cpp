// Shows questions and reads answers. Text of tools and models is shown in full and framed, so that a person decides by
// the real call and nothing can pose as our own words.
#include "daemon/cli/terminal/approval.hpp"

#include "daemon/cli/link/daemon_connection.hpp"
#include "daemon/cli/terminal/foreign_text.hpp"
#include "mcp/redact/hidden_text.hpp"
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

constexpr std::size_t shown_at_first = 600;

enum class unanswered { end_of_input, interrupted, withdrawn };

// Waits for standard input. Returns false after an interrupt, or when the question is no longer open.
bool wait_for_key(const question_watch& watch) {
  for (;;) {
    std::array<pollfd, 2> wait{pollfd{STDIN_FILENO, POLLIN, 0}, pollfd{watch.fd, POLLIN, 0}};
    if (!wait_ready(wait)) return false;
    if (wait[1].revents != 0 && !watch.still_open()) return false;
    if (wait[0].revents != 0) return true;
  }
}

// Reads one line from the terminal, without its end.
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

// Removes the last line break.
std::string without_end(std::string text) {
  if (text.ends_with('\n')) text.pop_back();
  return text;
}

// Shows server and tool first, each quoted on a line of its own. No line begins with text of a peer.
void show_call(terminal& screen, const raw_json& event, std::string_view arguments) {
  const auto width = screen.err_width();
  const std::string server = member_text(event, "server"), tool = member_text(event, "tool");
  screen.err_line(screen.bold("a call waits for your yes"));
  std::string text =
      framed("  server:    ", quoted_name(server), width) + framed("  tool:      ", quoted_name(tool), width);
  text += framed_ends("  arguments: ", arguments, width, shown_at_first, "s shows all of them");
  if (const auto reason = member_text(event, "reason"); !reason.empty()) text += framed("  why:       ", reason, width);
  if (has_hidden(server) || has_hidden(tool) || has_hidden(arguments, true)) text.append(hidden_note).append("\n");
  screen.err_line(without_end(text));
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

bool ask_yes(terminal& screen, std::string_view question) {
  screen.clear_status();
  ::tcflush(STDIN_FILENO, TCIFLUSH);
  screen.prompt(question);
  const auto line = read_answer({});
  if (!line) screen.err_line("");
  const auto word = line ? lower(*line) : "";
  return word == "y" || word == "yes";
}

std::optional<approval> ask_person(terminal& screen, const raw_json& event, const question_watch& watch) {
  screen.clear_status();
  // Drop input that was typed before the question appeared.
  ::tcflush(STDIN_FILENO, TCIFLUSH);
  const std::string arguments(find_member(event, "arguments").text());
  show_call(screen, event, arguments);
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
      screen.err_line(without_end(framed("  arguments: ", arguments, screen.err_width())));
    else
      screen.err_line("write y, n, a or s");
  }
}

}  // namespace mcpbx::cli

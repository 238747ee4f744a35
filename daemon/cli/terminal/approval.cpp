// Shows questions and reads answers. Text of tools and models is shown in full and framed, so that a person decides by
// the real call and nothing can pose as our own words.
#include "daemon/cli/terminal/approval.hpp"

#include "daemon/cli/terminal/foreign_text.hpp"
#include "mcp/redact/hidden_text.hpp"
#include "mcp/support/text.hpp"

#include <string>
#include <string_view>

namespace mcpbx::cli::terminals {
namespace {

constexpr std::size_t shown_at_first = 600, longest_answer = 64;

// Removes the last line break.
std::string without_end(std::string text) {
  if (text.ends_with('\n')) text.pop_back();
  return text;
}

// Shows server and tool first, each quoted on a line of its own. No line begins with text of a peer.
void show_call(terminal& screen, const json::raw_json& event, std::string_view arguments) {
  const auto width = screen.err_width();
  const std::string server = json::member_text(event, "server"), tool = json::member_text(event, "tool");
  screen.err_line(screen.bold("a call waits for your yes"));
  std::string text =
      framed("  server:    ", quoted_name(server), width) + framed("  tool:      ", quoted_name(tool), width);
  text += framed_ends("  arguments: ", arguments, width, shown_at_first, "s shows all of them");
  if (const auto reason = json::member_text(event, "reason"); !reason.empty())
    text += framed("  why:       ", reason, width);
  if (redact::has_hidden(server) || redact::has_hidden(tool) || redact::has_hidden(arguments, true))
    text.append(hidden_note).append("\n");
  screen.err_line(without_end(text));
}

std::string lower(std::string_view text) {
  std::string out;
  for (char c : text)
    if (c != ' ' && c != '\t' && c != '\r') out += c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c;
  return out;
}

}  // namespace

bool ask_yes(terminal& screen, std::string_view question) {
  screen.clear_status();
  drop_typed();
  screen.prompt(question);
  const auto line = read_line({}, longest_answer);
  if (!line) screen.err_line("");
  const auto word = line ? lower(*line) : "";
  return word == "y" || word == "yes";
}

std::optional<approval> ask_person(terminal& screen, const json::raw_json& event, const question_watch& watch) {
  screen.clear_status();
  drop_typed();
  const std::string arguments(json::find_member(event, "arguments").text());
  show_call(screen, event, arguments);
  for (;;) {
    screen.prompt("yes, no, always (for this run), show (the whole)? [y/N/a/s] ");
    const auto line = read_line(watch, longest_answer);
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

}  // namespace mcpbx::cli::terminals

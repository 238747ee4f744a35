// A backslash or three quotes say that more follows.
#include "daemon/cli/chat/typed_lines.hpp"

#include <algorithm>
#include <utility>

namespace mcpbx::cli::chat {
namespace {

constexpr std::string_view quotes = R"(""")", blanks = " \t\r";

std::string_view without_blanks_behind(std::string_view text) {
  return text.substr(0, text.find_last_not_of(blanks) + 1);
}

}  // namespace

void typed_lines::append(std::string_view text) {
  const auto room = most - std::min(most, text_.size());
  too_long_ = too_long_ || text.size() > room;
  text_ += text.substr(0, room);
}

bool typed_lines::add(std::string_view line) {
  if (line.ends_with('\r')) line.remove_suffix(1);
  if (!open_) {
    const auto begin = line.find_first_not_of(blanks);
    if (begin != std::string_view::npos && line.substr(begin).starts_with(quotes)) {
      quoted_ = true;
      line.remove_prefix(begin + quotes.size());
    }
  }
  const bool first = !std::exchange(open_, true);
  if (quoted_) {
    const auto body = without_blanks_behind(line);
    const bool ends = body.ends_with(quotes);
    if (ends) line = body.substr(0, body.size() - quotes.size());
    // The lines of the quotes themselves are no lines of the text if nothing else stands there.
    const bool only_quotes = line.empty() && (first || ends);
    if (!first && !only_quotes && !text_.empty()) append("\n");
    if (!only_quotes) append(line);
    open_ = !ends;
  } else {
    open_ = line.ends_with('\\');
    if (open_) line.remove_suffix(1);
    append(line);
    if (open_) append("\n");
  }
  return !open_;
}

std::string typed_lines::take() {
  open_ = quoted_ = too_long_ = false;
  return std::exchange(text_, {});
}

}  // namespace mcpbx::cli::chat

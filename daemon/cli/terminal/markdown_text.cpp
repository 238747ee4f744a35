// Decides by single marks and the characters beside them, so that little has to be kept back while an answer streams.
#include "daemon/cli/terminal/markdown_text.hpp"

#include <algorithm>
#include <utility>

namespace mcpbx::cli::terminals {
namespace {

constexpr std::size_t longest_number = 9;  // digits of a list item (CommonMark 0.31, section 5.2)

bool is_blank(char c) {
  return c == ' ' || c == '\t' || c == '\n' || c == '\r';
}
bool is_digit(char c) {
  return c >= '0' && c <= '9';
}
// Bytes of characters beyond ASCII count as letters.
bool is_letter(char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || is_digit(c) || (static_cast<unsigned char>(c) & 0x80) != 0;
}

// Returns the number of marks that the text begins with, at most the longest run: the whole text may be marks, and is
// looked at again behind each run.
std::size_t run_of(std::string_view text, char mark) {
  text = text.substr(0, markdown_text::longest_run);
  const auto end = text.find_first_not_of(mark);
  return end == std::string_view::npos ? text.size() : end;
}

}  // namespace

styled markdown_text::feed(std::string_view text) {
  held_ += text;
  styled out;
  read(out, false);
  return out;
}

styled markdown_text::flush() {
  styled out;
  read(out, true);
  return out;
}

styled markdown_text::finish() {
  auto out = flush();
  *this = markdown_text();
  return out;
}

void markdown_text::put(styled& out, look how, std::string_view text) {
  if (text.empty()) return;
  out.add(how, text);
  before_ = text.back();
}

look markdown_text::usual() const {
  if (span_run_ > 0) return look::cyan;
  if (at_ == where::heading || strong_ != 0) return look::bold;
  return slanted_ != 0 ? look::italic : look::plain;
}

void markdown_text::end_line() {
  span_run_ = 0;
  strong_ = slanted_ = 0;
  at_ = fence_ != 0 ? where::code_start : where::line_start;
}

// Reads held_ as far as it decides itself; with `all` to its end.
void markdown_text::read(styled& out, bool all) {
  std::size_t done = 0;
  while (done < held_.size()) {
    const auto rest = std::string_view(held_).substr(done);
    std::size_t taken = 0;
    switch (at_) {
      case where::line_start:
        taken = at_line_start(rest, out, all);
        break;
      case where::code_start:
      case where::code:
      case where::fence_line:
        taken = in_code(rest, out, all);
        break;
      case where::heading:
      case where::text:
        taken = in_text(rest, out, all);
        break;
    }
    if (taken == 0) break;
    done += taken;
  }
  held_.erase(0, done);
}

// Reads blanks and the mark that a line begins with. Returns the number of bytes read, 0: more are needed.
std::size_t markdown_text::at_line_start(std::string_view rest, styled& out, bool all) {
  const char first = rest.front();
  if (first == ' ' || first == '\t') {
    put(out, look::plain, rest.substr(0, 1));
    return 1;
  }
  const auto run = run_of(rest, first);
  const bool known = all || run < rest.size() || run == longest_run;
  const char next = run < rest.size() ? rest[run] : '\n';
  if (first == '`' || first == '~' || first == '#') {
    if (!known) return 0;
    if (first == '#' ? run <= 6 && is_blank(next) : run >= 3) {
      at_ = first == '#' ? where::heading : where::fence_line;
      if (first != '#') {
        fence_ = first;
        fence_run_ = run;
      }
      put(out, look::dim, rest.substr(0, run));
      return run;
    }
  } else if (first == '-' || first == '+' || first == '*') {
    if (rest.size() < 2 && !all) return 0;
    if (rest.size() > 1 && (rest[1] == ' ' || rest[1] == '\t')) {
      at_ = where::text;
      put(out, look::yellow, rest.substr(0, 1));
      return 1;
    }
  } else if (first == '>') {
    put(out, look::dim, rest.substr(0, 1));
    return 1;
  } else if (is_digit(first)) {
    std::size_t digits = 0;
    while (digits < rest.size() && digits <= longest_number && is_digit(rest[digits])) ++digits;
    if (digits <= longest_number) {
      if (digits + 1 >= rest.size() && !all) return 0;
      if (digits + 1 < rest.size() && (rest[digits] == '.' || rest[digits] == ')') && is_blank(rest[digits + 1])) {
        at_ = where::text;
        put(out, look::yellow, rest.substr(0, digits + 1));
        return digits + 1;
      }
    }
  }
  at_ = where::text;
  return in_text(rest, out, all);
}

// Reads a part of a line of text up to the next mark, or one mark.
std::size_t markdown_text::in_text(std::string_view rest, styled& out, bool all) {
  const auto plain = rest.find_first_of("\n`*_\\");
  if (plain != 0) {
    const auto n = std::min(plain, rest.size());
    put(out, usual(), rest.substr(0, n));
    return n;
  }
  const char mark = rest.front();
  if (mark == '\n') {
    put(out, look::plain, rest.substr(0, 1));
    end_line();
    return 1;
  }
  if (mark == '\\' && span_run_ == 0) {
    if (rest.size() < 2 && !all) return 0;
    // A mark behind it is text; a line break is one.
    const std::size_t n = rest.size() > 1 && std::string_view("`*_\\").contains(rest[1]) ? 2 : 1;
    put(out, usual(), rest.substr(0, n));
    return n;
  }
  if (mark == '`') {
    const auto run = run_of(rest, mark);
    if (run == rest.size() && run < longest_run && !all) return 0;
    const bool opens = span_run_ == 0 && run < longest_run;
    if (opens || span_run_ == run) {
      put(out, look::dim, rest.substr(0, run));
      span_run_ = opens ? run : 0;
    } else {
      put(out, usual(), rest.substr(0, run));
    }
    return run;
  }
  if (mark == '\\' || span_run_ > 0) {
    put(out, usual(), rest.substr(0, 1));
    return 1;
  }
  return stars(rest, out, all);
}

// Reads a run of * or _, which opens or closes a style, or is text (CommonMark 0.31, section 6.2).
std::size_t markdown_text::stars(std::string_view rest, styled& out, bool all) {
  const char mark = rest.front();
  const auto run = run_of(rest, mark);
  if (run == rest.size() && run < longest_run && !all) return 0;
  const char next = run < rest.size() ? rest[run] : '\n';
  const bool inside_word = mark == '_' && is_letter(before_) && is_letter(next);
  const bool may_open = !is_blank(next) && !inside_word && !(mark == '_' && is_letter(before_));
  const bool may_close = !is_blank(before_) && !inside_word && !(mark == '_' && is_letter(next));
  bool strong = run == 2 || run == 3, slanted = run == 1 || run == 3;
  const bool closes = may_close && (!strong || strong_ == mark) && (!slanted || slanted_ == mark);
  const bool opens = !closes && may_open && (!strong || strong_ == 0) && (!slanted || slanted_ == 0);
  if (run > 3 || (!closes && !opens)) {
    put(out, usual(), rest.substr(0, run));
    return run;
  }
  put(out, look::dim, rest.substr(0, run));
  if (strong) strong_ = closes ? '\0' : mark;
  if (slanted) slanted_ = closes ? '\0' : mark;
  return run;
}

// Reads a part of a block of code. Looks for the line that ends it, and for nothing else.
std::size_t markdown_text::in_code(std::string_view rest, styled& out, bool all) {
  const look how = at_ == where::fence_line ? look::dim : look::cyan;
  if (at_ == where::code_start) {
    const char first = rest.front();
    if (first == ' ' || first == '\t') {
      put(out, how, rest.substr(0, 1));
      return 1;
    }
    if (first == fence_) {
      const auto run = run_of(rest, first);
      if (run == rest.size() && run < longest_run && !all) return 0;
      if (run >= fence_run_ && (run == rest.size() || is_blank(rest[run]))) {
        put(out, look::dim, rest.substr(0, run));
        fence_ = 0;
        at_ = where::fence_line;
        return run;
      }
    }
    at_ = where::code;
  }
  const auto n = std::min(rest.find('\n'), rest.size());
  if (n > 0) {
    put(out, how, rest.substr(0, n));
    return n;
  }
  put(out, look::plain, rest.substr(0, 1));
  end_line();
  return 1;
}

}  // namespace mcpbx::cli::terminals

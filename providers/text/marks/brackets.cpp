// Counts brackets byte by byte. It does not match their kinds; the reader of the text does.
#include "providers/text/marks/brackets.hpp"

#include <utility>

namespace mcpbx::providers::text::marks {
namespace {

bool is_curly_double(unsigned char last) {
  return last == 0x9C || last == 0x9D;
}
bool is_curly_single(unsigned char last) {
  return last == 0x98 || last == 0x99;
}

}  // namespace

std::size_t bracket_scanner::feed(std::string_view bytes) {
  std::size_t taken = 0;
  while (taken < bytes.size() && !closed_) step(static_cast<unsigned char>(bytes[taken++]));
  return taken;
}

// Returns true if a quote that may be an apostrophe opens a string here, where a value or a key can begin.
bool bracket_scanner::may_open() const {
  return token_ == 0 || std::string_view("{[(,:=+").find(static_cast<char>(token_)) != std::string_view::npos;
}

void bracket_scanner::step(unsigned char c) {
  const unsigned char last = std::exchange(before_, c), last2 = std::exchange(before2_, last);
  const bool curly = last2 == 0xE2 && last == 0x80;
  switch (inside_) {
    case inside::line_comment:
      if (c == '\n') inside_ = inside::nothing;
      return;
    case inside::block_comment:
      if (last == '*' && c == '/') {
        inside_ = inside::nothing;
        before_ = 0;
      }
      return;
    case inside::string:
    case inside::curly_string:
      if (escaped_) {
        escaped_ = false;
      } else if (c == '\\') {
        escaped_ = true;
      } else if (inside_ == inside::string
                     ? c == quote_
                     : curly && (is_curly_double(quote_) ? is_curly_double(c) : is_curly_single(c))) {
        inside_ = inside::nothing;
        token_ = '"';
        before_ = 0;
      }
      return;
    case inside::nothing:
      break;
  }
  if (c == '"' || ((c == '\'' || c == '`') && may_open())) {
    inside_ = inside::string;
    quote_ = c;
  } else if (curly && (is_curly_double(c) || is_curly_single(c)) && may_open()) {
    inside_ = inside::curly_string;
    quote_ = c;
  } else if (c == '#' || (c == '/' && last == '/')) {
    inside_ = inside::line_comment;
  } else if (c == '*' && last == '/') {
    inside_ = inside::block_comment;
    before_ = 0;
  } else if (c == '{' || c == '[' || c == '(') {
    ++depth_;
    token_ = c;
  } else if (c == '}' || c == ']' || c == ')') {
    if (--depth_ == 0) closed_ = true;
    token_ = c;
  } else if (c > ' ' && c != '/' && c != 0xE2 && !(last == 0xE2 && c == 0x80)) {
    token_ = c;
  }
}

}  // namespace mcpbx::providers::text::marks

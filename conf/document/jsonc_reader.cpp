// Scalars, comments and error recovery of the JSONC reader. After an error it skips to the next comma or bracket of the
// same level: a guess that is right often enough that one slip gives one error.
#include "conf/document/jsonc_reader.hpp"

#include "mcp/json/json_scanner.hpp"
#include "mcp/support/text.hpp"
#include "mcp/support/utf8.hpp"

#include <charconv>
#include <cmath>

namespace mcpbx::conf::documents {
namespace {

bool digit(char c) {
  return c >= '0' && c <= '9';
}
bool number_part(char c) {
  return word_part(c) || c == '+' || c == '-' || c == '.';
}

/// Returns true if `t` is a number of RFC 8259. Sets `whole` if it has neither fraction nor exponent.
bool strict_number(std::string_view t, bool& whole) {
  std::size_t i = 0;
  const auto digits = [&] {
    const auto begin = i;
    while (i < t.size() && digit(t[i])) ++i;
    return i - begin;
  };
  if (i < t.size() && t[i] == '-') ++i;
  const bool zero = i < t.size() && t[i] == '0';
  const auto n = digits();
  if (n == 0 || (zero && n > 1)) return false;
  whole = i == t.size();
  if (i < t.size() && t[i] == '.') {
    ++i;
    if (digits() == 0) return false;
  }
  if (i < t.size() && (t[i] == 'e' || t[i] == 'E')) {
    ++i;
    if (i < t.size() && (t[i] == '+' || t[i] == '-')) ++i;
    if (digits() == 0) return false;
  }
  return i == t.size();
}

}  // namespace

bool word_start(char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_' || c == '$';
}
bool word_part(char c) {
  return word_start(c) || digit(c);
}

jsonc_reader::jsonc_reader(std::string_view text, std::uint32_t file, std::string_view name,
                           std::vector<diagnostic>& errors)
    : text_(text), file_(file), name_(name), errors_(errors), first_error_(errors.size()) {
  check_utf8();
  if (text_.starts_with("\xEF\xBB\xBF")) pos_ = 3;
}

void jsonc_reader::step() {
  const char c = text_[pos_++];
  if (c == '\n') {
    ++line_;
    column_ = 1;
  } else if ((static_cast<unsigned char>(c) & 0xC0) != 0x80) {
    ++column_;
  }
}

void jsonc_reader::report(const place& at, std::string what, std::string mend) {
  constexpr std::size_t most = 50;
  if (errors_.size() - first_error_ >= most) return;
  if (errors_.size() - first_error_ == most - 1) {
    what = "too many errors in this file; the rest is not listed";
    mend = "mend those above first";
    pos_ = text_.size();
    ended_ = true;
  }
  std::string path;
  for (const auto& part : path_)
    path = part.key.empty() && part.index != no_index ? element_path(path, part.index) : member_path(path, part.key);
  errors_.push_back({std::string(name_), at.line, at.column, std::move(what), std::move(path), std::move(mend)});
}

void jsonc_reader::report_end(std::string what, std::string mend) {
  if (!ended_) report(here(), std::move(what), std::move(mend));
  ended_ = true;
}

node jsonc_reader::broken(const place& at, std::string what, std::string mend) {
  report(at, std::move(what), std::move(mend));
  recover();
  node n;
  n.at = at;
  return n;
}

void jsonc_reader::check_utf8() {
  const auto good = valid_utf8_prefix(text_);
  if (good == text_.size()) return;
  place at{file_, 1, 1};
  for (std::size_t i = 0; i < good; ++i) {
    const char c = text_[i];
    if (c == '\n') {
      ++at.line;
      at.column = 1;
    } else if ((static_cast<unsigned char>(c) & 0xC0) != 0x80) {
      ++at.column;
    }
  }
  report(at, "the file is not valid UTF-8 here", "save it as UTF-8");
  std::size_t replaced = 0;
  repaired_ = repaired_utf8(text_, replaced);
  text_ = repaired_;
}

void jsonc_reader::blanks() {
  while (!end()) {
    const char c = peek();
    if (c == ' ' || c == '\t' || c == '\n' || c == '\r') {
      step();
    } else if (c == '/' && pos_ + 1 < text_.size() && text_[pos_ + 1] == '/') {
      while (!end() && peek() != '\n') step();
    } else if (c == '/' && pos_ + 1 < text_.size() && text_[pos_ + 1] == '*') {
      comment();
    } else {
      return;
    }
  }
}

void jsonc_reader::comment() {
  const auto at = here();
  const auto close = text_.find("*/", pos_ + 2);
  const auto stop = close == std::string_view::npos ? text_.size() : close + 2;
  while (pos_ < stop) step();
  if (close == std::string_view::npos) {
    report(at, "this comment is not closed", "write */ where it ends");
    ended_ = true;
  }
}

void jsonc_reader::recover() {
  std::size_t open = 0;
  while (!end()) {
    blanks();
    if (end()) return;
    const char c = peek();
    if (c == '"') {
      step();
      while (!end() && peek() != '"' && peek() != '\n') {
        if (peek() == '\\' && pos_ + 1 < text_.size() && text_[pos_ + 1] != '\n') step();
        step();
      }
      if (peek() == '"') step();
      continue;
    }
    if (open == 0 && (c == ',' || c == '}' || c == ']')) return;
    if (c == '{' || c == '[') ++open;
    if (c == '}' || c == ']') --open;
    step();
  }
}

node jsonc_reader::scalar() {
  const auto at = here();
  const char c = peek();
  node n;
  n.at = at;
  if (c == '"') {
    if (quoted_text(n.text)) n.type = node::kind::string;
    return n;
  }
  if (digit(c) || c == '-' || c == '+' || c == '.') return number();
  if (word_start(c)) return word();
  if (c == '\'') {
    report(at, "strings need double quotes", "write \"…\" instead of '…'");
    single_quoted_text();
    return n;
  }
  if (c == ',' || c == '}' || c == ']' || c == ':')
    return broken(at, "a value is missing here", "write the value, or take the key out");
  return broken(at, "no JSON value starts like this",
                "write a string in double quotes, a number, true, false, null, [ ] or { }");
}

std::string jsonc_reader::single_quoted_text() {
  std::string inside;
  step();
  while (!end() && peek() != '\'' && peek() != '\n') {
    inside += peek();
    step();
  }
  if (peek() == '\'') step();
  return inside;
}

node jsonc_reader::word() {
  const auto at = here();
  const auto begin = pos_;
  while (!end() && word_part(peek())) step();
  const auto w = text_.substr(begin, pos_ - begin);
  node n;
  n.at = at;
  if (w == "true" || w == "false") {
    n.type = node::kind::boolean;
    n.truth = w == "true";
  } else if (w == "null") {
    n.type = node::kind::null;
  } else if (w == "True" || w == "TRUE" || w == "yes" || w == "on") {
    n = broken(at, "this is not JSON", "write true");
  } else if (w == "False" || w == "FALSE" || w == "no" || w == "off") {
    n = broken(at, "this is not JSON", "write false");
  } else {
    n = broken(at, "a string needs quotes", "write it in double quotes");
  }
  return n;
}

node jsonc_reader::number() {
  const auto at = here();
  const auto begin = pos_;
  while (!end() && number_part(peek())) step();
  const auto t = text_.substr(begin, pos_ - begin);
  bool whole = false;
  if (!strict_number(t, whole)) return broken(at, "this is not a JSON number", "write it like 10, -3 or 0.5");
  node n;
  n.at = at;
  n.type = node::kind::number;
  const auto real = std::from_chars(t.data(), t.data() + t.size(), n.real);
  if (real.ec == std::errc::result_out_of_range)
    n.real = t.find("e-") != t.npos || t.find("E-") != t.npos ? 0.0 : HUGE_VAL;
  if (whole && std::from_chars(t.data(), t.data() + t.size(), n.whole).ec == std::errc()) {
    n.type = node::kind::integer;
  } else if (n.real == std::floor(n.real) && std::fabs(n.real) < 9e15) {
    n.type = node::kind::integer;
    n.whole = static_cast<std::int64_t>(n.real);
  }
  return n;
}

bool jsonc_reader::quoted_text(std::string& out) {
  const auto opened = here();
  bool good = true, control = false;
  step();
  while (true) {
    if (end() || peek() == '\n') {
      report(opened, "this string is not closed on its line", "write the closing \" (and \\n for a line break)");
      swallowed_comma_ = true;
      if (end()) ended_ = true;
      return false;
    }
    const char c = peek();
    if (c == '"') {
      step();
      return good;
    }
    if (c == '\\') {
      good = escape(out) && good;
      continue;
    }
    if (static_cast<unsigned char>(c) < 0x20 && c != '\r') {
      if (!control) report(here(), "a control character stands in a string", "write \\t for a tab, \\u00XX for others");
      control = true;
      good = false;
    } else if (c == '\r') {
      // A line that ends in CR LF inside a string is reported as unclosed by the line feed that follows.
      if (pos_ + 1 >= text_.size() || text_[pos_ + 1] != '\n') {
        report(here(), "a control character stands in a string", "write \\r");
        good = false;
      }
    }
    out += c;
    step();
  }
}

bool jsonc_reader::hex4(std::uint32_t& out) {
  out = 0;
  for (int i = 0; i < 4; ++i) {
    const char c = peek();
    const int d = digit(c) ? c - '0' : c >= 'a' && c <= 'f' ? c - 'a' + 10 : c >= 'A' && c <= 'F' ? c - 'A' + 10 : -1;
    if (d < 0) return false;
    out = out * 16 + static_cast<std::uint32_t>(d);
    step();
  }
  return true;
}

bool jsonc_reader::escape(std::string& out) {
  const auto at = here();
  step();
  const char c = peek();
  static constexpr std::string_view names = "\"\\/bfnrt", means = "\"\\/\b\f\n\r\t";
  if (const auto i = c == '\0' ? names.npos : names.find(c); i != names.npos) {
    out += means[i];
    step();
    return true;
  }
  if (c != 'u') {
    report(at, "no escape of JSON starts like this", "write \\\\ for a backslash");
    return false;
  }
  step();
  std::uint32_t unit = 0, low = 0;
  if (!hex4(unit)) {
    report(at, "\\u needs four hexadecimal digits", "write it like \\u00e9");
    return false;
  }
  if (unit == 0) {
    report(at, "\\u0000 cannot stand in a configuration", "take it out");
    return false;
  }
  if (unit >= 0xD800 && unit < 0xDC00 && peek() == '\\' && pos_ + 1 < text_.size() && text_[pos_ + 1] == 'u') {
    step();
    step();
    if (hex4(low) && low >= 0xDC00 && low < 0xE000) {
      utf8::append(out, 0x10000 + ((unit - 0xD800) << 10) + (low - 0xDC00));
      return true;
    }
  }
  if (unit >= 0xD800 && unit < 0xE000) {
    report(at, "half of a surrogate pair stands alone", "write the character itself");
    return false;
  }
  utf8::append(out, unit);
  return true;
}

}  // namespace mcpbx::conf::documents

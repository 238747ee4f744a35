// The parser: recursive descent over at most 64 levels. After an error it skips to the next comma or bracket of the
// same level, which is what people mean often enough that one slip gives one error.
#include "conf/jsonc.hpp"

#include "mcp/support/json_scanner.hpp"
#include "mcp/support/text.hpp"

#include <charconv>
#include <cmath>
#include <unordered_map>

namespace mcpbx::conf {
namespace {

bool word_start(char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_' || c == '$';
}
bool digit(char c) {
  return c >= '0' && c <= '9';
}
bool number_part(char c) {
  return digit(c) || word_start(c) || c == '+' || c == '-' || c == '.';
}

/// Whether `t` is a number of RFC 8259; `whole` says that it has neither fraction nor exponent.
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

void append_utf8(std::string& out, std::uint32_t c) {
  if (c < 0x80) {
    out += static_cast<char>(c);
  } else if (c < 0x800) {
    out += static_cast<char>(0xC0 | (c >> 6));
    out += static_cast<char>(0x80 | (c & 0x3F));
  } else if (c < 0x10000) {
    out += static_cast<char>(0xE0 | (c >> 12));
    out += static_cast<char>(0x80 | ((c >> 6) & 0x3F));
    out += static_cast<char>(0x80 | (c & 0x3F));
  } else {
    out += static_cast<char>(0xF0 | (c >> 18));
    out += static_cast<char>(0x80 | ((c >> 12) & 0x3F));
    out += static_cast<char>(0x80 | ((c >> 6) & 0x3F));
    out += static_cast<char>(0x80 | (c & 0x3F));
  }
}

std::string position(const place& at) {
  return "line " + std::to_string(at.line) + ":" + std::to_string(at.column);
}

class parser {
 public:
  parser(std::string_view text, std::uint32_t file, std::string_view name, std::vector<diagnostic>& errors)
      : text_(text), file_(file), name_(name), errors_(errors), first_error_(errors.size()) {}

  node document() {
    check_utf8();
    if (text_.starts_with("\xEF\xBB\xBF")) pos_ = 3;
    blanks();
    if (end()) {
      report(here(), "the file holds no JSON value", "write {} or delete the file");
      return {};
    }
    node root = value(0);
    blanks();
    if (!end() && !root.is(node::kind::broken))
      report(here(), "something stands after the end of the document", "take it out, or move it inside the { }");
    return root;
  }

 private:
  bool end() const { return pos_ >= text_.size(); }
  char peek() const { return end() ? '\0' : text_[pos_]; }
  place here() const { return {file_, line_, column_}; }

  void step() {
    const char c = text_[pos_++];
    if (c == '\n') {
      ++line_;
      column_ = 1;
    } else if ((static_cast<unsigned char>(c) & 0xC0) != 0x80) {
      ++column_;
    }
  }

  void report(const place& at, std::string what, std::string mend) {
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

  /// The text ended inside something: told once, for the innermost bracket.
  void report_end(std::string what, std::string mend) {
    if (!ended_) report(here(), std::move(what), std::move(mend));
    ended_ = true;
  }

  void check_utf8() {
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

  void blanks() {
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

  void comment() {
    const auto at = here();
    const auto close = text_.find("*/", pos_ + 2);
    const auto stop = close == std::string_view::npos ? text_.size() : close + 2;
    while (pos_ < stop) step();
    if (close == std::string_view::npos) {
      report(at, "this comment is not closed", "write */ where it ends");
      ended_ = true;
    }
  }

  /// Skips to the next comma or closing bracket of this level, or to the end.
  void recover() {
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

  node broken(const place& at, std::string what, std::string mend) {
    report(at, std::move(what), std::move(mend));
    recover();
    node n;
    n.at = at;
    return n;
  }

  node value(int depth) {
    blanks();
    const auto at = here();
    if (end()) {
      report_end("the file ends where a value is expected", "complete it");
      node n;
      n.at = at;
      return n;
    }
    const char c = peek();
    if (c == '{' || c == '[') {
      if (depth >= max_jsonc_depth)
        return broken(at, "nested deeper than " + std::to_string(max_jsonc_depth) + " levels",
                      "flatten it; no key of the configuration is that deep");
      return c == '{' ? object(depth) : array(depth);
    }
    if (c == '"') return string();
    if (digit(c) || c == '-' || c == '+' || c == '.') return number();
    if (word_start(c)) return word();
    if (c == '\'') return single_quoted();
    if (c == ',' || c == '}' || c == ']' || c == ':')
      return broken(at, "a value is missing here", "write the value, or take the key out");
    return broken(at, "no JSON value starts like this",
                  "write a string in double quotes, a number, true, false, null, [ ] or { }");
  }

  node single_quoted() {
    node n;
    n.at = here();
    report(n.at, "strings need double quotes", "write \"…\" instead of '…'");
    pass_single_quoted();
    return n;
  }

  std::string pass_single_quoted() {
    std::string inside;
    step();
    while (!end() && peek() != '\'' && peek() != '\n') {
      inside += peek();
      step();
    }
    if (peek() == '\'') step();
    return inside;
  }

  node word() {
    const auto at = here();
    const auto begin = pos_;
    while (!end() && (word_start(peek()) || digit(peek()))) step();
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

  node number() {
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

  node string() {
    node n;
    n.at = here();
    n.type = node::kind::string;
    if (!quoted_text(n.text)) n.type = node::kind::broken;
    return n;
  }

  /// Reads a string token. False after an error, which has been reported; the text has been passed all the same.
  bool quoted_text(std::string& out) {
    const auto opened = here();
    bool good = true, control = false;
    step();
    while (true) {
      if (end() || peek() == '\n') {
        report(opened, "this string is not closed on its line", "write the closing \" (and \\n for a line break)");
        forgive_comma_ = true;
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
        if (!control)
          report(here(), "a control character stands in a string", "write \\t for a tab, \\u00XX for others");
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

  bool hex4(std::uint32_t& out) {
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

  bool escape(std::string& out) {
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
        append_utf8(out, 0x10000 + ((unit - 0xD800) << 10) + (low - 0xDC00));
        return true;
      }
    }
    if (unit >= 0xD800 && unit < 0xE000) {
      report(at, "half of a surrogate pair stands alone", "write the character itself");
      return false;
    }
    append_utf8(out, unit);
    return true;
  }

  /// Between two members or elements. `closer` is the bracket that ends this level.
  void separator(char closer, bool starts_next) {
    blanks();
    if (peek() == ',') {
      step();
    } else if (starts_next && !end() && peek() != closer && !forgive_comma_) {
      report(here(), "a comma is missing before this", "write , after the value before it");
    }
    forgive_comma_ = false;
  }

  /// A closing bracket of the wrong kind. True: it ends an outer level, so this one ends too.
  bool foreign_closer(const place& opened, char closer, const int& outer_of_that_kind) {
    report(here(), std::string("\"") + peek() + "\" does not close what opened at " + position(opened),
           std::string("write \"") + closer + "\" there, or take this one out");
    if (outer_of_that_kind > 0) return true;
    step();
    return false;
  }

  struct step_of_path {
    std::string key;
    std::size_t index;
  };
  static constexpr std::size_t no_index = static_cast<std::size_t>(-1);

  node array(int depth) {
    node n;
    n.at = here();
    n.type = node::kind::array;
    const auto errors_before = errors_.size();
    ++arrays_;
    step();
    while (true) {
      blanks();
      if (peek() == ']') {
        step();
        break;
      }
      if (end()) {
        report_end("the file ends inside the list that opened at " + position(n.at), "write ] where it ends");
        break;
      }
      if (peek() == '}' && foreign_closer(n.at, ']', objects_)) break;
      if (peek() == '}' || peek() == ']' || end()) continue;
      if (peek() == ',') {
        report(here(), "a comma too many", "take it out");
        step();
        continue;
      }
      path_.push_back({"", n.items.size()});
      n.items.push_back(value(depth + 1));
      path_.pop_back();
      blanks();
      separator(']', peek() != '}');
    }
    --arrays_;
    n.damaged = errors_.size() != errors_before;
    return n;
  }

  bool key(std::string& out, const place& at) {
    const char c = peek();
    if (c == '"') {
      if (quoted_text(out)) return true;
      recover();
      return false;
    }
    if (word_start(c)) {
      report(at, "a key needs quotes", "write it in double quotes");
      while (!end() && (word_start(peek()) || digit(peek()))) {
        out += peek();
        step();
      }
      return true;
    }
    if (c == '\'') {
      report(at, "a key needs double quotes", "write \"…\" instead of '…'");
      out = pass_single_quoted();
      return true;
    }
    report(at, "a key is expected here", "write it in double quotes, or take this out");
    recover();
    return false;
  }

  node object(int depth) {
    node n;
    n.at = here();
    n.type = node::kind::object;
    const auto errors_before = errors_.size();
    std::unordered_map<std::string, place> seen;
    ++objects_;
    step();
    while (true) {
      blanks();
      if (peek() == '}') {
        step();
        break;
      }
      if (end()) {
        report_end("the file ends inside the object that opened at " + position(n.at), "write } where it ends");
        break;
      }
      if (peek() == ']' && foreign_closer(n.at, '}', arrays_)) break;
      if (peek() == '}' || peek() == ']' || end()) continue;
      if (peek() == ',') {
        report(here(), "a comma too many", "take it out");
        step();
        continue;
      }
      member(n, seen, depth);
      blanks();
      separator('}', peek() == '"' || word_start(peek()));
    }
    --objects_;
    n.damaged = errors_.size() != errors_before;
    return n;
  }

  void member(node& n, std::unordered_map<std::string, place>& seen, int depth) {
    node_member m;
    m.at = here();
    if (!key(m.key, m.at)) return;
    path_.push_back({m.key, no_index});
    blanks();
    if (peek() == ':') {
      step();
      m.value = value(depth + 1);
    } else if (peek() == '=') {
      report(here(), "a colon stands between a key and its value", "write : instead of =");
      step();
      m.value = value(depth + 1);
    } else {
      m.value = broken(here(), "a colon and a value are missing after the key", "write : and the value");
    }
    if (const auto [other, fresh] = seen.try_emplace(m.key, m.at); fresh)
      n.members.push_back(std::move(m));
    else
      report(m.at, "this key stands twice, first at " + position(other->second), "take one of the two out");
    path_.pop_back();
  }

  std::string_view text_;
  std::string repaired_;
  std::uint32_t file_;
  std::string_view name_;
  std::vector<diagnostic>& errors_;
  std::size_t first_error_;
  std::size_t pos_ = 0;
  std::uint32_t line_ = 1, column_ = 1;
  int arrays_ = 0, objects_ = 0;  // open levels of each kind
  bool forgive_comma_ = false;    // an unclosed string has swallowed the comma
  bool ended_ = false;            // the early end of the text has been reported
  std::vector<step_of_path> path_;
};

}  // namespace

const node_member* node::find(std::string_view key) const {
  for (const auto& m : members)
    if (m.key == key) return &m;
  return nullptr;
}

node_member* node::find(std::string_view key) {
  for (auto& m : members)
    if (m.key == key) return &m;
  return nullptr;
}

std::string_view words_for(node::kind k) {
  switch (k) {
    case node::kind::broken:
      return "something unreadable";
    case node::kind::null:
      return "null";
    case node::kind::boolean:
      return "true or false";
    case node::kind::integer:
      return "a number";
    case node::kind::number:
      return "a number";
    case node::kind::string:
      return "a string";
    case node::kind::array:
      return "a list";
    case node::kind::object:
      return "an object";
  }
  return "";
}

node parse_jsonc(std::string_view text, std::uint32_t file, std::string_view name, std::vector<diagnostic>& errors) {
  return parser(text, file, name, errors).document();
}

}  // namespace mcpbx::conf

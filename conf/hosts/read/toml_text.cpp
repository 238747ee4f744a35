// Reads TOML 1.0 from front to back and stops at the first fault. It is our own because the reader of Debian's archive
// (toml++ 3.3) runs into undefined behaviour on files that are no TOML, which the fuzz target showed.
#include "conf/hosts/read/toml_text.hpp"

#include "mcp/support/utf8.hpp"

#include <charconv>
#include <cmath>
#include <string>
#include <utility>
#include <vector>

namespace mcpbx::conf::read {
namespace {

using kind = documents::node::kind;

constexpr std::size_t most_members = 10'000;  // of one table, or elements of one list

/// Origin of a table or a list; kept in node::whole while reading.
enum table_state : std::int64_t { implied, headed, dotted, closed };

class toml_reader {
 public:
  toml_reader(std::string_view text, std::uint32_t file, std::string_view name,
              std::vector<documents::diagnostic>& errors)
      : text_(text), file_(file), name_(name), errors_(errors) {
    if (text_.starts_with("\xEF\xBB\xBF")) pos_ = 3;
  }

  documents::node document() {
    root_.type = kind::object;
    root_.at = {file_, 1, 1};
    root_.whole = headed;
    if (valid_utf8_prefix(text_) != text_.size())
      return fault("the file is not valid UTF-8", "save it as UTF-8"), documents::node{};
    table_ = &root_;
    while (!wrong_) {
      blank_lines();
      if (end() || wrong_) break;
      if (peek() == '[')
        header();
      else
        key_value(*table_, table_depth_);
      if (!wrong_) line_end();
    }
    if (wrong_) return {};
    clear(root_);
    return std::move(root_);
  }

 private:
  bool end() const { return pos_ >= text_.size(); }
  char peek(std::size_t ahead = 0) const { return pos_ + ahead < text_.size() ? text_[pos_ + ahead] : '\0'; }
  bool at(std::string_view word) const { return text_.substr(pos_).starts_with(word); }
  documents::place here() const { return {file_, line_, column_}; }

  void step(std::size_t count = 1) {
    for (; count > 0 && !end(); --count) {
      const char c = text_[pos_++];
      if (c == '\n') {
        ++line_;
        column_ = 1;
      } else if ((static_cast<unsigned char>(c) & 0xC0) != 0x80) {
        ++column_;
      }
    }
  }

  void fault_at(const documents::place& where, std::string what, std::string mend) {
    if (!wrong_)
      errors_.push_back(
          {std::string(name_), where.line, where.column, "this is not TOML: " + std::move(what), "", std::move(mend)});
    wrong_ = true;
  }
  void fault(std::string what, std::string mend = "mend it in the program that it belongs to") {
    fault_at(here(), std::move(what), std::move(mend));
  }

  void blanks() {
    while (peek() == ' ' || peek() == '\t') step();
  }
  void comment() {
    while (!end() && peek() != '\n') {
      if (is_control(peek()) && !(peek() == '\r' && peek(1) == '\n')) return fault("a control character in a comment");
      step();
    }
  }
  static bool is_control(char c) { return (static_cast<unsigned char>(c) < 0x20 && c != '\t') || c == 0x7F; }
  /// Skips blanks, comments and line ends.
  void blank_lines() {
    while (!end() && !wrong_) {
      blanks();
      if (peek() == '#')
        comment();
      else if (peek() == '\n' || (peek() == '\r' && peek(1) == '\n'))
        step();
      else
        return;
    }
  }
  void line_end() {
    blanks();
    if (peek() == '#') comment();
    if (peek() == '\r' && peek(1) == '\n') step();
    if (end() || wrong_) return;
    if (peek() != '\n') return fault("something stands behind the value on this line");
    step();
  }

  struct key_part {
    std::string name;
    documents::place where;
  };

  static bool bare(char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_' || c == '-';
  }

  std::vector<key_part> dotted_key() {
    std::vector<key_part> parts;
    while (!wrong_) {
      blanks();
      key_part part{"", here()};
      if (peek() == '"' || peek() == '\'') {
        if (at("\"\"\"") || at("'''")) return fault("a key of several lines"), parts;
        part.name = peek() == '"' ? basic_string(false) : literal_string(false);
      } else {
        while (bare(peek())) {
          part.name += peek();
          step();
        }
        if (part.name.empty()) return fault("a key is expected here"), parts;
      }
      parts.push_back(std::move(part));
      if (parts.size() > static_cast<std::size_t>(documents::max_jsonc_depth))
        return fault("a key with more than 64 parts", "flatten it"), parts;
      blanks();
      if (peek() != '.') return parts;
      step();
    }
    return parts;
  }

  documents::node* add(documents::node& table, const key_part& key, documents::node value) {
    if (table.members.size() >= most_members)
      return fault_at(key.where, "a table with more than 10000 keys", "split it"), nullptr;
    return &table.members.emplace_back(documents::node_member{key.name, key.where, std::move(value)}).value;
  }
  static documents::node made(kind type, const documents::place& where, table_state state) {
    documents::node n;
    n.type = type;
    n.at = where;
    n.whole = state;
    return n;
  }

  void header() {
    const auto where = here();
    const bool list = at("[[");
    step(list ? 2 : 1);
    const auto parts = dotted_key();
    if (wrong_) return;
    if (!at(list ? "]]" : "]")) return fault("the name of a table is not closed", list ? "write ]]" : "write ]");
    step(list ? 2 : 1);
    documents::node* n = &root_;
    for (std::size_t i = 0; i + 1 < parts.size(); ++i) {
      auto* m = n->find(parts[i].name);
      n = m != nullptr ? &m->value : add(*n, parts[i], made(kind::object, where, implied));
      if (wrong_) return;
      if (n->is(kind::array) && n->whole != closed) n = &n->items.back();
      if (!n->is(kind::object) || n->whole == closed)
        return fault_at(parts[i].where, "this is a value already, and no table", "take one of the two out");
    }
    const auto& last = parts.back();
    auto* m = n->find(last.name);
    table_depth_ = static_cast<int>(parts.size()) + (list ? 1 : 0);
    if (list) {
      if (m == nullptr) add(*n, last, made(kind::array, where, headed)), m = wrong_ ? nullptr : n->find(last.name);
      if (wrong_) return;
      auto& items = m->value.items;
      if (!m->value.is(kind::array) || m->value.whole == closed)
        return fault_at(last.where, "this is a value already, and no list of tables", "take one of the two out");
      if (items.size() >= most_members) return fault_at(last.where, "a list with more than 10000 tables", "split it");
      items.push_back(made(kind::object, where, headed));
      table_ = &items.back();
      return;
    }
    if (m == nullptr) {
      table_ = add(*n, last, made(kind::object, where, headed));
      return;
    }
    if (!m->value.is(kind::object) || m->value.whole != implied)
      return fault_at(last.where, "this table stands twice", "take one of the two out");
    m->value.whole = headed;
    m->value.at = where;
    table_ = &m->value;
  }

  void key_value(documents::node& table, int depth) {
    const auto parts = dotted_key();
    if (wrong_) return;
    if (peek() != '=') return fault("an equals sign is expected here", "write = and the value");
    step();
    documents::node* n = &table;
    for (std::size_t i = 0; i + 1 < parts.size(); ++i) {
      auto* m = n->find(parts[i].name);
      if (m != nullptr && (!m->value.is(kind::object) || m->value.whole != dotted))
        return fault_at(parts[i].where, "this key stands twice", "take one of the two out");
      n = m != nullptr ? &m->value : add(*n, parts[i], made(kind::object, parts[i].where, dotted));
      if (wrong_) return;
    }
    if (n->find(parts.back().name) != nullptr)
      return fault_at(parts.back().where, "this key stands twice", "take one of the two out");
    blanks();
    auto v = value(depth + static_cast<int>(parts.size()));
    if (!wrong_) add(*n, parts.back(), std::move(v));
  }

  documents::node value(int depth) {
    documents::node n;
    n.at = here();
    if (depth > documents::max_jsonc_depth) return fault("nested deeper than 64 levels", "flatten it"), n;
    const char c = peek();
    if (c == '[') return list(depth);
    if (c == '{') return inline_table(depth);
    if (c == '"' || c == '\'') {
      n.type = kind::string;
      n.text = c == '"' ? basic_string(at("\"\"\"")) : literal_string(at("'''"));
      return n;
    }
    return scalar();
  }

  documents::node list(int depth) {
    auto n = made(kind::array, here(), closed);
    step();
    while (!wrong_) {
      blank_lines();
      if (end()) return fault("a list is not closed", "write ]"), n;
      if (peek() == ']') return step(), n;
      if (n.items.size() >= most_members) return fault("a list with more than 10000 values", "split it"), n;
      n.items.push_back(value(depth + 1));
      blank_lines();
      if (wrong_) break;
      if (peek() == ',')
        step();
      else if (peek() != ']')
        return fault("a comma or ] is expected here"), n;
    }
    return n;
  }

  documents::node inline_table(int depth) {
    auto n = made(kind::object, here(), dotted);
    step();
    blanks();
    if (peek() == '}') return step(), n.whole = closed, n;
    while (!wrong_) {
      key_value(n, depth);
      blanks();
      if (wrong_) break;
      if (peek() == '}') break;
      if (peek() != ',') return fault("a comma or } is expected here"), n;
      step();
    }
    step();
    n.whole = closed;
    return n;
  }

  std::string literal_string(bool lines) {
    const std::string_view mark = lines ? "'''" : "'";
    return quoted(mark, lines, false);
  }
  std::string basic_string(bool lines) {
    const std::string_view mark = lines ? "\"\"\"" : "\"";
    return quoted(mark, lines, true);
  }

  std::string quoted(std::string_view mark, bool lines, bool escapes) {
    std::string out;
    const auto opened = here();
    step(mark.size());
    if (lines && peek() == '\r' && peek(1) == '\n') step();
    if (lines && peek() == '\n') step();
    while (!wrong_) {
      if (end() || (!lines && peek() == '\n'))
        return fault_at(opened, "this string is not closed", "write its closing quote"), out;
      if (at(mark)) {
        // Up to two quotes may stand in front of the closing ones.
        while (lines && peek(3) == mark[0] && out.size() < max_foreign) out += mark[0], step();
        step(mark.size());
        return out;
      }
      const char c = peek();
      if (escapes && c == '\\') {
        escape(out, lines);
        continue;
      }
      if (is_control(c) && !(lines && (c == '\n' || (c == '\r' && peek(1) == '\n'))))
        return fault("a control character stands in a string"), out;
      out += c;
      step();
    }
    return out;
  }

  void escape(std::string& out, bool lines) {
    static constexpr std::string_view names = "btnfr\"\\", means = "\b\t\n\f\r\"\\";
    const char c = peek(1);
    if (const auto i = c == '\0' ? names.npos : names.find(c); i != names.npos) {
      out += means[i];
      return step(2);
    }
    if (c == 'u' || c == 'U') {
      const std::size_t digits = c == 'u' ? 4 : 8;
      const auto word = text_.substr(pos_ + 2, digits);
      std::uint32_t code = 0;
      const auto read = std::from_chars(word.data(), word.data() + word.size(), code, 16);
      const bool good = word.size() == digits && read.ec == std::errc() && read.ptr == word.data() + digits;
      if (!good || code == 0 || code > 0x10FFFF || (code >= 0xD800 && code < 0xE000))
        return fault("an escape that names no character");
      utf8::append(out, code);
      return step(2 + digits);
    }
    // A backslash at the end of a line leaves out the break and the blanks behind it.
    auto next = pos_ + 1;
    while (next < text_.size() && (text_[next] == ' ' || text_[next] == '\t' || text_[next] == '\r')) ++next;
    if (!lines || next >= text_.size() || text_[next] != '\n')
      return fault("no escape of TOML starts like this", "write \\\\ for a backslash");
    step(next - pos_);
    while (peek() == ' ' || peek() == '\t' || peek() == '\n' || (peek() == '\r' && peek(1) == '\n')) step();
  }

  documents::node scalar() {
    documents::node n;
    n.at = here();
    std::string word;
    const auto part = [](char c) { return bare(c) || c == '+' || c == '.' || c == ':'; };
    while (part(peek())) {
      word += peek();
      step();
    }
    // A date and a time may have a blank between them.
    const bool date = word.size() == 10 && word[4] == '-' && word[7] == '-';
    if (date && peek() == ' ' && peek(1) >= '0' && peek(1) <= '9') {
      word += ' ';
      step();
      while (part(peek())) {
        word += peek();
        step();
      }
    }
    if (word == "true" || word == "false") {
      n.type = kind::boolean;
      n.truth = word == "true";
      return n;
    }
    if (word.empty()) return fault_at(n.at, "a value is expected here", "write it, or take the key out"), n;
    if (date || (word.size() > 4 && word[2] == ':')) {
      n.type = kind::string;
      n.text = std::move(word);
      return n;
    }
    if (word.ends_with("inf") || word.ends_with("nan"))
      return fault_at(n.at, "inf and nan are no numbers of a configuration", "take it out"), n;
    number(n, word);
    return n;
  }

  void number(documents::node& n, std::string_view word) {
    std::string digits;
    for (std::size_t i = 0; i < word.size(); ++i) {
      if (word[i] == '_' && i > 0 && i + 1 < word.size() && bare(word[i - 1]) && bare(word[i + 1]) &&
          word[i - 1] != '_')
        continue;
      digits += word[i];
    }
    std::string_view t = digits;
    int base = 10;
    if (t.starts_with("0x")) base = 16;
    if (t.starts_with("0o")) base = 8;
    if (t.starts_with("0b")) base = 2;
    if (base != 10 || t.starts_with('+')) t.remove_prefix(base != 10 ? 2 : 1);
    const auto* stop = t.data() + t.size();
    const auto plain = t.substr(t.starts_with('-') ? 1 : 0);
    const bool starts_well = !plain.empty() && ((plain[0] >= '0' && plain[0] <= '9') || base == 16);
    const bool padded = base == 10 && plain.size() > 1 && plain[0] == '0' && plain[1] >= '0' && plain[1] <= '9';
    if (starts_well && !padded) {
      if (const auto whole = std::from_chars(t.data(), stop, n.whole, base);
          whole.ec == std::errc() && whole.ptr == stop) {
        n.type = kind::integer;
        n.real = static_cast<double>(n.whole);
        return;
      }
      n.whole = 0;
      const auto real = std::from_chars(t.data(), stop, n.real);
      if (base == 10 && real.ec == std::errc() && real.ptr == stop && std::isfinite(n.real)) {
        n.type = kind::number;
        if (n.real == std::floor(n.real) && std::fabs(n.real) < 9e15) {
          n.type = kind::integer;
          n.whole = static_cast<std::int64_t>(n.real);
        }
        return;
      }
    }
    fault_at(n.at, "this is neither a text in quotes nor a number, true, false or a date", "write a text in quotes");
  }

  /// Takes the marks of reading out of the tree.
  static void clear(documents::node& n) {
    if (n.is(kind::object) || n.is(kind::array)) n.whole = 0;
    for (auto& i : n.items) clear(i);
    for (auto& m : n.members) clear(m.value);
  }

  static constexpr std::size_t max_foreign = 4u * 1024 * 1024;

  std::string_view text_;
  std::uint32_t file_;
  std::string_view name_;
  std::vector<documents::diagnostic>& errors_;
  std::size_t pos_ = 0;
  std::uint32_t line_ = 1, column_ = 1;
  bool wrong_ = false;
  documents::node root_;
  documents::node* table_ = nullptr;  ///< the table that keys belong to; headers alone add members around it
  int table_depth_ = 0;
};

}  // namespace

documents::node toml_tree(std::string_view text, std::uint32_t file, std::string_view name,
                          std::vector<documents::diagnostic>& errors) {
  return toml_reader(text, file, name, errors).document();
}

}  // namespace mcpbx::conf::read

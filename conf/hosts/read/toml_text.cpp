// Converts the document of toml++, whose tables are sorted by name, into nodes in the order of the file. toml++ bounds
// the nesting of values but not that of dotted keys, so these are counted before it sees the text.
#include "conf/hosts/read/toml_text.hpp"

#define TOML_EXCEPTIONS 0
#define TOML_HEADER_ONLY 1
#define TOML_ENABLE_FORMATTERS 0
#define TOML_MAX_NESTED_VALUES 64
#include <toml++/toml.h>

#include <algorithm>
#include <cmath>
#include <optional>
#include <sstream>
#include <string>
#include <utility>

namespace mcpbx::conf {
namespace {

/// Returns the place of the first run of characters that could be a dotted key of more than 64 parts.
std::optional<place> deep_key(std::string_view text, std::uint32_t file) {
  place at{file, 1, 1};
  int dots = 0;
  for (const char c : text) {
    if (c == '\n') {
      ++at.line;
      at.column = 0;
      dots = 0;
    } else if (c == '.') {
      if (++dots > max_jsonc_depth) return at;
    } else if (c == '=' || c == '{' || c == '}' || c == '[' || c == ']' || c == ',' || c == '#') {
      dots = 0;
    }
    if ((static_cast<unsigned char>(c) & 0xC0) != 0x80) ++at.column;
  }
  return {};
}

class toml_reader {
 public:
  toml_reader(std::uint32_t file, std::string_view name, std::vector<diagnostic>& errors)
      : file_(file), name_(name), errors_(errors) {}

  node convert(const toml::node& from, int depth) {
    node n;
    n.at = place_of(from.source());
    if (depth > max_jsonc_depth) {
      if (!deep_) error(n.at, "nested deeper than 64 levels", "flatten it");
      deep_ = true;
      return n;
    }
    if (const auto* table = from.as_table()) {
      n.type = node::kind::object;
      for (const auto& [key, value] : *table)
        n.members.push_back({std::string(key.str()), place_of(key.source()), convert(value, depth + 1)});
      std::ranges::sort(n.members, {}, [](const node_member& m) { return std::pair(m.at.line, m.at.column); });
    } else if (const auto* list = from.as_array()) {
      n.type = node::kind::array;
      for (const auto& item : *list) n.items.push_back(convert(item, depth + 1));
    } else {
      scalar(from, n);
    }
    return n;
  }

  void error(const place& at, std::string what, std::string mend) {
    errors_.push_back({std::string(name_), at.line, at.column, std::move(what), "", std::move(mend)});
  }
  place place_of(const toml::source_region& s) const {
    return {file_, std::max<std::uint32_t>(s.begin.line, 1), std::max<std::uint32_t>(s.begin.column, 1)};
  }

 private:
  void scalar(const toml::node& from, node& n) {
    if (const auto* text = from.as_string()) {
      n.type = node::kind::string;
      n.text = text->get();
    } else if (const auto* truth = from.as_boolean()) {
      n.type = node::kind::boolean;
      n.truth = truth->get();
    } else if (const auto* whole = from.as_integer()) {
      n.type = node::kind::integer;
      n.whole = whole->get();
      n.real = static_cast<double>(n.whole);
    } else if (const auto* real = from.as_floating_point()) {
      if (!std::isfinite(real->get()))
        return error(n.at, "inf and nan are no numbers of a configuration", "take it out");
      n.real = real->get();
      n.type = node::kind::number;
      if (n.real == std::floor(n.real) && std::fabs(n.real) < 9e15) {
        n.type = node::kind::integer;
        n.whole = static_cast<std::int64_t>(n.real);
      }
    } else {
      std::ostringstream text;
      if (const auto* d = from.as_date()) text << d->get();
      if (const auto* t = from.as_time()) text << t->get();
      if (const auto* both = from.as_date_time()) text << both->get();
      n.type = node::kind::string;
      n.text = text.str();
    }
  }

  std::uint32_t file_;
  std::string_view name_;
  std::vector<diagnostic>& errors_;
  bool deep_ = false;
};

}  // namespace

node toml_tree(std::string_view text, std::uint32_t file, std::string_view name, std::vector<diagnostic>& errors) {
  toml_reader reader(file, name, errors);
  if (const auto at = deep_key(text, file)) {
    reader.error(*at, "a key with more than 64 parts", "flatten it");
    return {};
  }
  const auto parsed = toml::parse(text);
  if (!parsed) {
    const auto& wrong = parsed.error();
    reader.error(reader.place_of(wrong.source()), "this is not TOML: " + std::string(wrong.description()),
                 "mend it in the program that it belongs to");
    return {};
  }
  return reader.convert(parsed.table(), 0);
}

}  // namespace mcpbx::conf

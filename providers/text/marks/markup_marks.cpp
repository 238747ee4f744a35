// Detects damaged marks of parameters. A value that contains marks of its own looks almost like two values whose border
// lost some bytes.
#include "providers/text/marks/markup_marks.hpp"

#include "providers/text/marks/distance.hpp"
#include "providers/text/marks/text_scan.hpp"

#include <algorithm>
#include <array>
#include <span>
#include <string>
#include <unordered_map>

namespace mcpbx::providers::text::marks {
namespace {

constexpr std::string_view parameter_word = "parameter", open_cdata = "<![CDATA[";

// Search for the next occurrence of a character from rising positions. It scans each byte once.
class next_place {
 public:
  next_place(std::string_view text, char c) : text_(text), c_(c), found_(text.find(c)) {}
  /// Returns the first occurrence at `at` or behind it, or npos.
  std::size_t from(std::size_t at) {
    if (found_ < at) found_ = text_.find(c_, at);
    return found_;
  }

 private:
  std::string_view text_;
  char c_;
  std::size_t found_;
};

// Returns true if the rest of a closing mark is followed by the rest of an opening one. If both marks are whole, they
// belong to an example in the value.
bool holds_damaged_border(std::string_view value) {
  bool closed = false, damaged = false;
  next_place angle(value, '>'), line_end(value, '\n');
  for (auto at = value.find(parameter_word); at != npos; at = value.find(parameter_word, at + 1)) {
    const auto behind = at + parameter_word.size();
    const auto rest = value.substr(behind);
    const bool opens = at > 0 && value[at - 1] == '<' && (rest.starts_with('=') || rest.starts_with(" name="));
    const bool like_opening =
        rest.starts_with('=') || rest.starts_with(" name") || angle.from(behind) < line_end.from(behind);
    const bool closes = rest.starts_with('>') && at > 1 && value.substr(at - 2, 2) == "</";
    if (!closes && like_opening && (damaged || (closed && !opens))) return true;
    const bool like_closing = rest.starts_with('>') || (at > 0 && value[at - 1] == '/');
    closed = closed || like_closing;
    damaged = damaged || (like_closing && !closes);
  }
  return false;
}

// Returns the position behind an entity for an angle bracket at `at`, perhaps escaped more than once; 0: none.
std::size_t behind_entity(std::string_view s, std::size_t at, std::span<const std::string_view> names) {
  if (at >= s.size() || s[at] != '&') return 0;
  ++at;
  while (s.substr(at).starts_with("amp;")) at += 4;
  for (const auto name : names)
    if (s.substr(at).starts_with(name)) return at + name.size();
  return 0;
}

// Returns the position behind a tag whose escaped first bracket ends before `at`; 0: no tag. An unescaped last bracket
// counts only if nothing else than a tag stands before it.
std::size_t behind_escaped_tag(std::string_view s, std::size_t at) {
  static constexpr std::array<std::string_view, 4> greater{"gt;", "#62;", "#x3e;", "#x3E;"};
  for (auto i = at; i < std::min(s.size(), at + 512) && s[i] != '<'; ++i) {
    if (const auto end = behind_entity(s, i, greater); end != 0) return end;
    if (s[i] != '>') continue;
    auto inside = s.substr(at, i - at);
    if (inside.starts_with('/')) inside.remove_prefix(1);
    const bool word = std::ranges::all_of(inside, [](char c) { return is_name_char(c) || c == '='; });
    return word || has_attributes_only(std::string(inside) + '>') ? i + 1 : 0;
  }
  return 0;
}

// Replaces parts of an XML value that cannot be marks (CDATA sections, escaped tags) by a 0.
std::string without_escaped(std::string_view value) {
  static constexpr std::array<std::string_view, 4> less{"lt;", "#60;", "#x3c;", "#x3C;"};
  std::string out;
  for (std::size_t at = 0; at < value.size();) {
    const auto next = std::min(value.find_first_of("<&", at), value.size());
    out += value.substr(at, next - at);
    at = next;
    if (at == value.size()) break;
    std::size_t end = 0;
    if (value.substr(at).starts_with(open_cdata)) {
      end = value.find("]]>", at);
      end = end == npos ? value.size() : end + 3;
    } else if (const auto behind = behind_entity(value, at, less); behind != 0) {
      end = behind_escaped_tag(value, behind);
    }
    out += end != 0 ? '\0' : value[at];
    at = end != 0 ? end : at + 1;
  }
  return out;
}

// Returns the length of a whole opening mark of a parameter at the beginning of `s`; 0: none.
std::size_t behind_opening(std::string_view s) {
  constexpr std::size_t longest = 512;
  const auto behind = s.substr(std::min(s.size(), 1 + parameter_word.size()));
  if (!behind.starts_with('=') && !behind.starts_with(" name=")) return 0;
  if (!s.substr(1).starts_with(parameter_word)) return 0;
  const auto end = s.substr(0, longest).find_first_of("<>\n", 1);
  return end != npos && s[end] == '>' ? end + 1 : 0;
}

// Calls `f` for each byte of a value that is no blank, and once with 0 for each part that is certainly undamaged: a
// closing tag that the value itself opens, a closing mark, a CDATA section.
template <class F>
void for_each_doubtful(std::string_view value, bool cdata, F&& f) {
  std::unordered_map<std::string_view, int> open;
  const auto name_at = [&](std::size_t at) {
    auto end = at;
    while (end < value.size() && (is_name_char(value[end]) || value[end] == ':')) ++end;
    return value.substr(at, end - at);
  };
  for (std::size_t at = 0; at < value.size(); ++at) {
    if (is_blank(value[at])) continue;
    if (value[at] != '<') {
      f(value[at]);
      continue;
    }
    const auto rest = value.substr(at);
    if (cdata && rest.starts_with(open_cdata)) {
      at = std::min(value.find("]]>", at), value.size() - 3) + 2;
      f('\0');
      continue;
    }
    if (rest.starts_with("</")) {
      const auto name = name_at(at + 2);
      const auto opened = open.find(name);
      const bool own = opened != open.end() && opened->second > 0;
      if (value.substr(at + 2 + name.size()).starts_with('>') && (own || name == parameter_word)) {
        if (own) --opened->second;
        at += name.size() + 2;
        f('\0');
        continue;
      }
    } else {
      const auto name = name_at(at + 1);
      if (!name.empty()) ++open[name];
      // A whole opening mark may follow a damaged closing one, but is not damaged itself.
      if (const auto end = behind_opening(rest); end != 0) {
        for (const char c : rest.substr(0, 1 + parameter_word.size())) f(c);
        for (int i = 0; i < 12; ++i) f('\0');
        at += end - 1;
        continue;
      }
    }
    f(value[at]);
  }
}

// Returns true if the value contains a border of two values with up to three damages, a swap counting two, or ends in a
// damaged closing mark. Both marks of the border must be damaged: with one whole, the marks would not form pairs.
bool holds_changed_mark(std::string_view value) {
  near_to<6> border("</parameter><parameter");
  near_to<2> mark("</parameter>");
  bool found = value.ends_with('<'), ends = false;
  for_each_doubtful(value, false, [&](char c) {
    found = border.feed(c) || found;
    ends = mark.feed(c);
  });
  return found || ends;
}

}  // namespace

std::vector<std::pair<std::string_view, std::string_view>> attributes_of(std::string_view tag) {
  std::vector<std::pair<std::string_view, std::string_view>> all;
  for (std::size_t at = 0; (at = tag.find('=', at)) != npos; ++at) {
    auto end = at;
    while (end > 0 && is_blank(tag[end - 1])) --end;
    auto begin = end;
    while (begin > 0 && is_name_char(tag[begin - 1])) --begin;
    const auto open = skip_blanks(tag, at + 1);
    if (begin == end || begin == 0 || !is_blank(tag[begin - 1]) || open >= tag.size()) continue;
    const bool quoted = tag[open] == '"' || tag[open] == '\'';
    const auto close = quoted ? tag.find(tag[open], open + 1) : open;
    if (close == npos) break;
    all.emplace_back(tag.substr(begin, end - begin),
                     quoted ? tag.substr(open + 1, close - open - 1) : std::string_view());
    at = close;
  }
  return all;
}

bool has_attributes_only(std::string_view tag) {
  auto at = std::min(tag.find_first_of(" \t\r\n"), tag.size());
  for (;;) {
    at = skip_blanks(tag, at);
    const auto rest = tag.substr(at);
    if (rest == ">" || rest == "/>") return true;
    std::size_t end = 0;
    while (end < rest.size() && (is_name_char(rest[end]) || rest[end] == ':')) ++end;
    const auto equals = skip_blanks(rest, end);
    if (end == 0 || equals >= rest.size() || rest[equals] != '=') return false;
    const auto open = skip_blanks(rest, equals + 1);
    if (open >= rest.size() || (rest[open] != '"' && rest[open] != '\'')) return false;
    const auto close = rest.find(rest[open], open + 1);
    if (close == npos) return false;
    at += close + 1;
  }
}

bool ends_in_damage(std::string_view value, bool cdata, bool any_case) {
  if (any_case) return ends_in_damage(lowered(value), cdata, false);
  value = trimmed(value);
  const auto line = value.rfind('\n');
  const auto last_line = value.substr(line == npos ? 0 : line);
  if (last_line.find(parameter_word) != npos) return true;
  near_to<5> mark("</parameter>");
  bool near = false;
  char end = 0;
  for_each_doubtful(value, cdata, [&](char c) {
    near = mark.feed(c);
    end = c;
  });
  if (end == 0) return false;
  return near || last_line.find_first_of("<>") != npos;
}

bool border_is_certain(std::string_view value, bool cdata, bool any_case) {
  if (any_case) return border_is_certain(lowered(value), cdata, false);
  int open = 0;
  bool lone = false;
  next_place angle(value, '>');
  for (auto at = value.find('<'); at != npos; at = value.find('<', at + 1)) {
    const auto rest = value.substr(at);
    const auto is = [&](std::string_view mark) { return rest.starts_with(mark); };
    if (cdata && is(open_cdata)) {
      at = value.find("]]>", at);
      if (at == npos) return open == 0;
    } else if (is("<parameter") || std::ranges::any_of(parameter_marks, is)) {
      if (lone) return false;
      ++open;
    } else if (is("</parameter") || std::ranges::any_of(value_ends, is)) {
      if (open > 0) {
        --open;
        continue;
      }
      // The text only mentions the mark.
      const auto end = angle.from(at);
      const bool apart = at > 0 && is_blank(value[at - 1]) && end != npos && end + 1 < value.size() &&
                         is_blank(value[end + 1]) && value[end + 1] != '\n';
      if (!apart) return false;
      lone = true;
    }
  }
  if (open != 0) return false;
  const auto text = cdata ? without_escaped(value) : std::string();
  const auto doubtful = cdata ? std::string_view(text) : value;
  return !holds_damaged_border(doubtful) && !holds_changed_mark(doubtful);
}

}  // namespace mcpbx::providers::text::marks

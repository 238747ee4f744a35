// Recognition of marks, and the first guess about JSON without one, by the first member of its object.
#include "providers/text/marks/marks.hpp"

#include "providers/text/marks/markup_marks.hpp"

#include <algorithm>
#include <array>
#include <tuple>

namespace mcpbx::providers::text::marks {
namespace {

constexpr std::size_t max_name = 128;
constexpr std::array<std::string_view, 13> first_keys{
    "name",       "tool_name", "tool", "function_name", "action",    "function", "function_call", "tool_call",
    "tool_calls", "type",      "id",   "arguments",     "parameters"};

// Index of a table of marks by the two letters behind the bracket, or behind the slash of a closing mark, in lower
// case. Each mark is a bit.
struct mark_heads {
  std::array<std::uint64_t, 256> opening{}, closing{}, next{};
  constexpr void add(std::string_view text, std::size_t place) {
    if (!text.starts_with('<')) return;
    const std::size_t at = text[1] == '/' ? 2 : 1;
    auto& heads = at == 2 ? closing : opening;
    heads[static_cast<unsigned char>(lower(text[at]))] |= std::uint64_t{1} << place;
    next[static_cast<unsigned char>(lower(text[at + 1]))] |= std::uint64_t{1} << place;
  }
  constexpr std::uint64_t at(bool closes, char head, char behind) const {
    const auto found = (closes ? closing : opening)[static_cast<unsigned char>(lower(head))];
    return behind == 0 ? found : found & next[static_cast<unsigned char>(lower(behind))];
  }
};
template <class Table>
constexpr mark_heads heads_of(const Table& marks) {
  static_assert(std::tuple_size_v<Table> <= 64);
  mark_heads all;
  std::size_t place = 0;
  for (const auto& mark : marks) all.add(mark.text, place++);
  return all;
}
constexpr mark_heads angle_heads = heads_of(angle_marks), closing_heads = heads_of(closing_marks);
// The same index for marks of no table: those of parameters, and special tokens.
constexpr mark_heads other_heads = [] {
  mark_heads all;
  for (const auto mark : parameter_marks) all.add(mark, 0);
  for (const auto mark : value_ends) all.add(mark, 0);
  return all;
}();
bool begins_special(char head) {
  return head == '|' || head == '\xEF';
}

untagged_guess guess_object(std::string_view text, const offered_tools& tools) {
  constexpr untagged_guess maybe{match::maybe};
  auto at = skip_blanks(text, 1);
  if (at > max_name) return {};
  if (at == text.size()) return maybe;
  const char quote = text[at];
  if (quote != '"' && quote != '\'') return {};
  auto end = text.find(quote, ++at);
  const auto key = text.substr(at, end == std::string_view::npos ? end : end - at);
  if (end == std::string_view::npos) {
    if (key.size() > max_name) return {};
    const bool may = std::ranges::any_of(first_keys, [&](auto k) { return k.starts_with(key); });
    return may ? maybe : untagged_guess{};
  }
  if (std::ranges::find(first_keys, key) == first_keys.end()) return {};
  at = skip_blanks(text, end + 1);
  if (at > 2 * max_name) return {};
  if (at == text.size()) return maybe;
  if (text[at] != ':') return {};
  at = skip_blanks(text, at + 1);
  if (at > 4 * max_name) return {};
  if (at == text.size()) return maybe;
  const char c = text[at];
  if (key == "id" || key == "arguments" || key == "parameters") return {match::yes};
  if ((key == "function" || key == "function_call" || key == "tool_call") && c == '{') return {match::yes};
  if (key == "tool_calls") return {c == '[' ? match::yes : match::no};
  if (c != '"' && c != '\'') return {};
  end = text.find(c, ++at);
  if (end == std::string_view::npos) return text.size() - at > max_name ? untagged_guess{} : maybe;
  const auto value = text.substr(at, end - at);
  if (key == "type") return value == "function" || value == "tool_call" ? untagged_guess{match::yes} : untagged_guess{};
  return tools.find(value) != nullptr ? untagged_guess{match::yes, true} : untagged_guess{};
}

// Returns true if `s` may begin with NAME= or with the end of the tag.
bool may_begin_attribute(std::string_view s) {
  std::size_t end = 0;
  while (end < s.size() && (is_name_char(s[end]) || s[end] == ':')) ++end;
  const auto next = skip_blanks(s, end);
  return next == s.size() || s[next] == (end > 0 ? '=' : '/');
}

}  // namespace

possible_marks marks_at(std::string_view s) {
  const auto in = s.substr(0, longest_tag);
  auto at = skip_blanks(in, 1);
  const bool closes = at < in.size() && in[at] == '/';
  if (closes) at = skip_blanks(in, at + 1);
  if (at == in.size()) return {s.size() < longest_tag ? match::maybe : match::no};
  const char head = in[at], behind = at + 1 < in.size() ? in[at + 1] : '\0';
  const auto opening = angle_heads.at(closes, head, behind), closing = closing_heads.at(closes, head, behind);
  const bool any = (opening | closing | other_heads.at(closes, head, behind)) != 0 || begins_special(head);
  return {any ? match::yes : match::no, opening, closing};
}

found_tag match_tag(std::string_view s, std::string_view tag) {
  if (s.starts_with(tag)) return {match::yes, tag.size()};
  const auto in = s.substr(0, longest_tag);
  const found_tag undecided{s.size() < longest_tag ? match::maybe : match::no};
  std::size_t at = 0;
  const bool angle = tag.starts_with('<'), closes = tag.starts_with("</");
  const auto name_ends = angle ? tag.size() - 1 : tag.size();
  for (std::size_t i = 0; i < name_ends; ++i) {
    // Blanks are allowed behind the bracket and behind the slash.
    if (angle && (i == 1 || (closes && i == 2))) at = skip_blanks(in, at);
    if (at == in.size()) return undecided;
    if (lower(in[at]) != lower(tag[i])) return {};
    ++at;
  }
  if (!angle) return {match::yes, at};
  const auto next = skip_blanks(in, at);
  if (next == in.size()) return undecided;
  if (in[next] == '>') return {match::yes, next + 1};
  if (closes || next == at || !may_begin_attribute(in.substr(next))) return {};
  char quote = 0;
  for (auto i = next; i < in.size(); ++i) {
    const char c = in[i];
    if (quote != 0) {
      if (c == quote) quote = 0;
    } else if (c == '"' || c == '\'') {
      quote = c;
    } else if (c == '<') {
      return {};
    } else if (c == '>') {
      return has_attributes_only(in.substr(at, i + 1 - at)) ? found_tag{match::yes, i + 1} : found_tag{};
    }
  }
  return undecided;
}

found_tag match_mark(std::string_view s, const mark& m) {
  if (m.kind == mark_kind::tag || m.kind == mark_kind::list || m.kind == mark_kind::result) return match_tag(s, m.text);
  if (m.text.starts_with("<|")) return {begins_like(s, m.text), m.text.size()};
  return {(m.kind == mark_kind::markup ? begins_like : begins)(s, m.text), m.text.size()};
}

found_tag match_special(std::string_view s) {
  constexpr std::size_t longest = 64;
  for (const std::string_view bar : {"|", "\xEF\xBD\x9C"}) {
    const auto inner = s.substr(std::min<std::size_t>(s.size(), 1));
    const auto opened = s.starts_with('<') ? begins(inner, bar) : match::no;
    if (opened == match::maybe) return {match::maybe};
    if (opened != match::yes) continue;
    const bool ascii = bar.size() == 1;
    auto at = 1 + bar.size();
    while (at < std::min(s.size(), longest)) {
      const auto c = static_cast<unsigned char>(s[at]);
      const bool word = is_name_char(s[at]) || c == '/' || c == ':' || (!ascii && c >= 0x80);
      if (!word || s.substr(at).starts_with(bar)) break;
      ++at;
    }
    if (at >= longest || at == 1 + bar.size()) return {at == s.size() && at < longest ? match::maybe : match::no};
    const auto rest = s.substr(at);
    if (begins(rest, bar) == match::maybe || rest == bar) return {match::maybe};
    return rest.starts_with(bar) && rest[bar.size()] == '>' ? found_tag{match::yes, at + bar.size() + 1} : found_tag{};
  }
  return {};
}

found_tag match_mark(std::string_view s, const closing_mark& m) {
  if (m.text.starts_with("<|")) return {begins_like(s, m.text), m.text.size()};
  if (m.text.starts_with("</") || m.text.starts_with('[')) return match_tag(s, m.text);
  return {begins(s, m.text), m.text.size()};
}

untagged_guess guess_untagged(std::string_view text, const offered_tools& tools, bool at_line_start) {
  if (text.starts_with('{')) return guess_object(text, tools);
  const auto at = skip_blanks(text, 1);
  if (at > max_name) return {};
  if (at == text.size()) return {match::maybe};
  if (text[at] == '{') return guess_object(text.substr(at), tools);
  if (!at_line_start || !is_name_char(text[at])) return {};
  auto end = at;
  while (end < text.size() && is_name_char(text[end])) ++end;
  if (end == text.size()) return end - at > max_name ? untagged_guess{} : untagged_guess{match::maybe};
  if (text[end] != '(' || tools.find(text.substr(at, end - at)) == nullptr) return {};
  return {match::yes, true, true};
}

}  // namespace mcpbx::providers::text::marks

// Reads the marks of DeepSeek's calls. None is a special token as a whole, so any byte of one may be damaged.
#include "providers/text/marks/dsml_marks.hpp"

#include <algorithm>
#include <array>

namespace mcpbx::providers::text::marks {
namespace {

constexpr std::string_view language = "DSML";

struct named_kind {
  std::string_view word;
  dsml_kind opening, closing;
};
constexpr std::array<named_kind, 5> kinds{{
    {"function_calls", dsml_kind::section, dsml_kind::section_end},
    {"tool_calls", dsml_kind::section, dsml_kind::section_end},
    {"calls", dsml_kind::section, dsml_kind::section_end},
    {"invoke", dsml_kind::invoke, dsml_kind::invoke_end},
    {"parameter", dsml_kind::parameter, dsml_kind::parameter_end},
}};

// Skips one or two bars at `at`. Returns `no` if there is none.
match skip_bars(std::string_view s, std::string_view bar, std::size_t& at) {
  for (int i = 0; i < 2; ++i) {
    const auto is = begins(s.substr(at), bar);
    if (is == match::maybe) return is;
    if (is == match::no) return i == 0 ? match::no : match::yes;
    at += bar.size();
  }
  return match::yes;
}

// Reads `<`, a slash, bars, the name of the language and bars.
match skip_head(std::string_view s, std::string_view bar, std::size_t& at, bool& closes) {
  at = 1;
  if (at == s.size()) return match::maybe;
  closes = s[at] == '/';
  if (closes) ++at;
  if (const auto bars = skip_bars(s, bar, at); bars != match::yes) return bars;
  if (const auto word = begins(s.substr(at), language); word != match::yes) return word;
  at += language.size();
  return skip_bars(s, bar, at);
}

}  // namespace

dsml_mark match_dsml(std::string_view s) {
  if (!s.starts_with('<')) return {};
  const auto in = s.substr(0, longest_dsml);
  const bool more = s.size() < longest_dsml;
  std::size_t at = 0;
  bool closes = false;
  auto head = skip_head(in, "|", at, closes);
  if (head == match::no) head = skip_head(in, "\xEF\xBD\x9C", at, closes);
  if (head != match::yes) return {head, dsml_kind::other, 0, {}};
  at = skip_blanks(in, at);
  const auto word_at = at;
  while (at < in.size() && (is_name_char(in[at]))) ++at;
  const auto word = in.substr(word_at, at - word_at);
  const auto* kind = std::ranges::find(kinds, word, &named_kind::word);
  char quote = 0;
  for (; at < in.size(); ++at) {
    const char c = in[at];
    if (quote != 0 && c != '\n') {
      if (c == quote) quote = 0;
    } else if (c == '"' || c == '\'') {
      quote = c;
    } else if (c == '>') {
      const bool known = kind != kinds.end();
      const auto behind = word_at + word.size();
      return {match::yes,
              !known   ? dsml_kind::other
              : closes ? kind->closing
                       : kind->opening,
              at + 1, in.substr(behind, at + 1 - behind)};
    } else if (c == '<' || c == '\n') {
      return {match::yes, dsml_kind::other, at, {}};
    }
  }
  return {more ? match::maybe : match::yes, dsml_kind::other, at, {}};
}

}  // namespace mcpbx::providers::text::marks

// Small text functions that all text formats share.
#pragma once
#include "mcp/support/text.hpp"

#include <cstddef>
#include <string>
#include <string_view>

namespace mcpbx::providers::text::marks {

inline constexpr auto npos = std::string_view::npos;

inline bool is_blank(char c) {
  return c == ' ' || c == '\t' || c == '\n' || c == '\r';
}
inline bool is_name_char(char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_' || c == '-' || c == '.';
}
constexpr char lower(char c) {
  return c >= 'A' && c <= 'Z' ? static_cast<char>(c | 0x20) : c;
}
inline bool same_letters(std::string_view a, std::string_view b) {
  if (a.size() != b.size()) return false;
  for (std::size_t i = 0; i < a.size(); ++i)
    if (lower(a[i]) != lower(b[i])) return false;
  return true;
}

/// Returns `text` with ASCII capitals in lower case.
inline std::string lowered(std::string_view text) {
  std::string out(text);
  for (char& c : out) c = lower(c);
  return out;
}

inline std::size_t skip_blanks(std::string_view s, std::size_t at) {
  while (at < s.size() && is_blank(s[at])) ++at;
  return at;
}
/// Returns the position behind the blanks at `at`, at most 256 of them, so that the result does not depend on the
/// amount of text received; npos: nothing has come behind them yet.
inline std::size_t behind_blanks(std::string_view s, std::size_t at) {
  constexpr std::size_t most = 256;
  const auto next = skip_blanks(s.substr(0, at + most), at);
  return next == s.size() ? npos : next;
}
/// Returns the name of a tool or argument without the quotes and marks that models put around it.
inline std::string_view cleaned_name(std::string_view s) {
  for (;;) {
    s = trimmed(s);
    const auto size = s.size();
    while (!s.empty() && std::string_view("`'\"*").find(s.front()) != std::string_view::npos) s.remove_prefix(1);
    while (!s.empty() && std::string_view("`'\"*").find(s.back()) != std::string_view::npos) s.remove_suffix(1);
    if (s.size() == size) return s;
  }
}

/// Answer to "does this text begin with the mark?"; maybe: more text is needed.
enum class match : unsigned char { no, maybe, yes };
inline match begins(std::string_view s, std::string_view mark) {
  if (s.starts_with(mark)) return match::yes;
  return mark.starts_with(s) ? match::maybe : match::no;
}
/// Compares the same way in any case.
inline match begins_like(std::string_view s, std::string_view mark) {
  if (s.size() < mark.size()) return same_letters(s, mark.substr(0, s.size())) ? match::maybe : match::no;
  return same_letters(s.substr(0, mark.size()), mark) ? match::yes : match::no;
}

}  // namespace mcpbx::providers::text::marks

// The judgements on single strings. They look at the bytes between the quotes, and nothing else of the text.
#include "providers/model/json_strings.hpp"

#include <algorithm>

namespace mcpbx::providers::json_strings {

// If one backslash means itself, the others may as well: C:\Users\name contains \n. In program text with blanks the
// known escapes are certain enough, in a path they are not.
bool two_meanings(std::string_view raw, const escapes& seen) {
  if (!seen.unknown) return false;
  if (seen.rare || raw.starts_with("\\\\")) return true;
  if (!seen.known) return false;
  for (std::size_t at = 1; at + 1 < raw.size(); ++at)
    if (raw[at] == ':' && raw[at + 1] == '\\' && is_letter(raw[at - 1]) && (at == 1 || !is_word(raw[at - 2])))
      return true;
  return raw.find_first_of(" \t\n") == std::string_view::npos;
}

bool is_plain_name(std::string_view name) {
  return !name.empty() && !is_digit(name.front()) &&
         std::ranges::all_of(name, [](char c) { return is_word(c) && c != '-'; });
}

bool beside_doubt(std::string_view text, std::size_t begin, std::size_t end) {
  constexpr std::string_view around = " \t\r\n,:", quotes = "\"'`", marks = "\"'`{}[]()<>:,=/";
  const auto last = begin == 0 ? std::string_view::npos : text.find_last_not_of(around, begin - 1);
  const auto next = text.find_first_not_of(around, end);
  const auto is_in = [&](std::string_view set, std::size_t at) { return at < text.size() && set.contains(text[at]); };
  return (last != std::string_view::npos && last > 0 && is_in(quotes, last) && is_in(marks, last - 1)) ||
         (next != std::string_view::npos && is_in(quotes, next) && is_in(marks, next + 1));
}

bool holds_members(std::string_view raw) {
  bool inside = false;
  std::size_t depth = 0;
  for (std::size_t at = 0; at < raw.size(); ++at) {
    const char c = raw[at];
    if (c == '\\') {
      ++at;
    } else if (c == '"') {
      inside = !inside;
      const auto next = raw.find_first_not_of(" \t\r\n", at + 1);
      // A double colon is a cast in SQL, not the end of a key.
      const bool colon = next != std::string_view::npos && raw[next] == ':' && raw.substr(next, 2) != "::";
      const bool ends_name = inside ? at > 0 && is_word(raw[at - 1]) : depth == 0;
      if (colon && ends_name) return true;
    } else if (!inside && (c == '{' || c == '[' || c == '(')) {
      ++depth;
    } else if (!inside && depth > 0 && (c == '}' || c == ']' || c == ')')) {
      --depth;
    }
  }
  return false;
}

}  // namespace mcpbx::providers::json_strings

// Judged by the bytes between the quotes alone.
#include "providers/model/json_strings.hpp"

#include <algorithm>

namespace mcpbx::providers::json_strings {

// Where one backslash means itself, another one may as well: C:\Users\name holds \n. In a program with line breaks the
// known escapes are certain enough; in a path they are not.
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
      // Two colons are a cast in SQL.
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

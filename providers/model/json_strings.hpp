// Judges the strings of a text that is nearly JSON: kinds of quotes, and quotes or backslashes with two meanings.
#pragma once
#include <array>
#include <cstddef>
#include <string_view>

namespace mcpbx::providers::json_strings {

inline bool is_digit(char c) {
  return c >= '0' && c <= '9';
}
inline bool is_letter(char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z');
}
inline bool is_word(char c) {
  return is_letter(c) || is_digit(c) || c == '_' || c == '$' || c == '-';
}

/// Quotes that open a string, and those that close it again.
struct quote_kind {
  std::string_view open;
  std::array<std::string_view, 2> close;
};
inline constexpr std::array<quote_kind, 7> string_quotes{{
    {"\"", {"\"", "\""}},
    {"'", {"'", "'"}},
    {"`", {"`", "`"}},
    {"\xE2\x80\x9C", {"\xE2\x80\x9D", "\xE2\x80\x9C"}},
    {"\xE2\x80\x9D", {"\xE2\x80\x9D", "\xE2\x80\x9C"}},
    {"\xE2\x80\x98", {"\xE2\x80\x99", "\xE2\x80\x98"}},
    {"\xE2\x80\x99", {"\xE2\x80\x99", "\xE2\x80\x98"}},
}};

/// The escapes of one string.
struct escapes {
  bool unknown = false;  ///< to JSON: the backslash means itself
  bool known = false;    ///< of a control character or a code point
  bool rare = false;     ///< of a control character that nobody writes
};

/// Returns true if a key of that name needs no quotes in JavaScript.
bool is_plain_name(std::string_view name);
/// Returns true if a string beside the unquoted key at [begin, end) of `text` has a mark of JSON (quote, bracket,
/// comma) at the end that faces the key: the key's lost quote may be the one that closes or opens that string.
bool beside_doubt(std::string_view text, std::size_t begin, std::size_t end);
/// Returns true if a backslash in the string `raw` may mean itself or an escape.
bool two_meanings(std::string_view raw, const escapes& seen);
/// Returns true if the string `raw`, whose quotes are not JSON's own, seems to contain members of the object around it:
/// a name and a colon outside of brackets, or the second half of a name.
bool holds_members(std::string_view raw);

}  // namespace mcpbx::providers::json_strings

// What the strings of a text that is nearly JSON say about themselves: their quotes, and whether these and the
// backslashes in them have one meaning.
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

/// Whether a key of that name needs no quotes in JavaScript.
bool is_plain_name(std::string_view name);
/// Whether a string right before or behind the key without quotes at [begin, end) of `text` ends there with one of
/// JSON's own marks: it may be what a lost quote was replaced by.
bool beside_doubt(std::string_view text, std::size_t begin, std::size_t end);
/// Whether a backslash in the string `raw` may mean itself or an escape.
bool two_meanings(std::string_view raw, const escapes& seen);
/// Whether the string `raw`, whose quotes are not JSON's own, holds what looks like the members of an object around it:
/// a name and a colon outside of brackets, or the second half of a name.
bool holds_members(std::string_view raw);

}  // namespace mcpbx::providers::json_strings

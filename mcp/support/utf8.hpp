// Reads strict UTF-8 character by character (RFC 3629: no overlong forms, no surrogates, nothing above U+10FFFF). The
// scanner, the repair and the cleaning of text share it, so that they agree on the extent of an invalid sequence.
#pragma once
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

namespace mcpbx::utf8 {

/// Demand of a first byte >= 0x80: `need` further bytes, the first of them within low … high. need == 0: invalid.
struct lead {
  std::uint8_t need, low, high;
};

constexpr lead lead_of(unsigned char c) noexcept {
  if (c < 0xC2 || c > 0xF4) return {0, 0, 0};
  if (c < 0xE0) return {1, 0x80, 0xBF};
  if (c < 0xF0)
    return {2, c == 0xE0 ? std::uint8_t{0xA0} : std::uint8_t{0x80},
            c == 0xED ? std::uint8_t{0x9F} : std::uint8_t{0xBF}};
  return {3, c == 0xF0 ? std::uint8_t{0x90} : std::uint8_t{0x80}, c == 0xF4 ? std::uint8_t{0x8F} : std::uint8_t{0xBF}};
}

enum class status : std::uint8_t {
  valid,      ///< one character of `size` bytes
  invalid,    ///< `size` bytes to be replaced by one U+FFFD (the maximal subpart of Unicode, section 3.9)
  incomplete  ///< the text ends inside a character that is right so far; `size` bytes were there
};
struct step {
  std::uint8_t size;
  status what;
};

/// Reads the character that starts at `p`, which must be before `end`.
inline step next(const char* p, const char* end) noexcept {
  const auto first = static_cast<unsigned char>(*p);
  if (first < 0x80) return {1, status::valid};
  const lead l = lead_of(first);
  if (l.need == 0) return {1, status::invalid};
  const auto left = static_cast<std::size_t>(end - p);
  std::uint8_t low = l.low, high = l.high;
  for (std::uint8_t i = 1; i <= l.need; ++i) {
    if (i == left) return {i, status::incomplete};
    const auto c = static_cast<unsigned char>(p[i]);
    if (c < low || c > high) return {i, status::invalid};
    low = 0x80;
    high = 0xBF;
  }
  return {static_cast<std::uint8_t>(l.need + 1), status::valid};
}

/// Returns the code point of a valid character of `size` bytes.
inline char32_t decode(const char* p, std::uint8_t size) noexcept {
  const auto byte = [p](int i) { return static_cast<char32_t>(static_cast<unsigned char>(p[i])); };
  switch (size) {
    case 1:
      return byte(0);
    case 2:
      return (byte(0) & 0x1F) << 6 | (byte(1) & 0x3F);
    case 3:
      return (byte(0) & 0x0F) << 12 | (byte(1) & 0x3F) << 6 | (byte(2) & 0x3F);
    default:
      return (byte(0) & 0x07) << 18 | (byte(1) & 0x3F) << 12 | (byte(2) & 0x3F) << 6 | (byte(3) & 0x3F);
  }
}

/// Appends a code point of at most U+10FFFF that is no surrogate.
void append(std::string& out, char32_t c);

/// U+FFFD, the replacement of invalid sequences.
inline constexpr std::string_view replacement = "\xEF\xBF\xBD";

}  // namespace mcpbx::utf8

namespace mcpbx {

/// Returns the length in bytes of the valid prefix of `text`; text.size() when all of it is valid.
std::size_t valid_utf8_prefix(std::string_view text);
/// Returns a copy with every invalid sequence replaced by U+FFFD, and counts them in `replaced`.
std::string repaired_utf8(std::string_view text, std::size_t& replaced);

}  // namespace mcpbx

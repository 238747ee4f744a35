// Hexadecimal digits and base64.
#include "mcp/support/encodings.hpp"

#include <array>
#include <cstddef>
#include <cstdint>

namespace mcpbx {
namespace {

constexpr std::string_view hex_digits = "0123456789abcdef";
constexpr std::string_view standard = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
constexpr std::string_view for_urls = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_";

using digit_values = std::array<std::int8_t, 256>;

constexpr digit_values values_of(std::string_view digits, digit_values values) {
  for (std::size_t i = 0; i < digits.size(); ++i)
    values[static_cast<unsigned char>(digits[i])] = static_cast<std::int8_t>(i);
  return values;
}
constexpr digit_values no_values = [] {
  digit_values values{};
  values.fill(-1);
  return values;
}();
constexpr digit_values standard_values = values_of(standard, no_values);
constexpr digit_values url_values = values_of(for_urls, no_values);
constexpr digit_values all_values = values_of(for_urls, standard_values);

std::string encoded(std::string_view bytes, std::string_view digits) {
  std::string out;
  out.reserve((bytes.size() + 2) / 3 * 4);
  std::uint32_t held = 0;
  int bits = 0;
  for (const char byte : bytes) {
    held = held << 8 | static_cast<unsigned char>(byte);
    for (bits += 8; bits >= 6; bits -= 6) out += digits[held >> (bits - 6) & 63];
  }
  if (bits > 0) out += digits[held << (6 - bits) & 63];
  return out;
}

/// Decodes digits without padding. `exact`: bits that no byte takes must be zero.
std::optional<std::string> decoded(std::string_view text, const digit_values& values, bool exact) {
  std::string out;
  out.reserve(text.size() / 4 * 3 + 3);
  std::uint32_t held = 0;
  int bits = 0;
  for (const char c : text) {
    const auto digit = values[static_cast<unsigned char>(c)];
    if (digit < 0) {
      if (!exact && (c == '\n' || c == '\r')) continue;
      return std::nullopt;
    }
    held = held << 6 | static_cast<std::uint32_t>(digit);
    bits += 6;
    if (bits < 8) continue;
    bits -= 8;
    out += static_cast<char>(held >> bits & 0xFF);
  }
  if (bits >= 6 || (exact && (held & ((1U << bits) - 1U)) != 0)) return std::nullopt;
  return out;
}

}  // namespace

std::string hex_text(std::string_view bytes) {
  std::string out;
  out.reserve(2 * bytes.size());
  for (const char c : bytes) {
    const auto byte = static_cast<unsigned char>(c);
    out += hex_digits[byte >> 4];
    out += hex_digits[byte & 0xF];
  }
  return out;
}

std::optional<std::string> hex_bytes(std::string_view text) {
  if (text.size() % 2 != 0) return std::nullopt;
  std::string out;
  out.reserve(text.size() / 2);
  for (std::size_t i = 0; i < text.size(); i += 2) {
    const auto high = hex_digits.find(text[i]), low = hex_digits.find(text[i + 1]);
    if (high == std::string_view::npos || low == std::string_view::npos) return std::nullopt;
    out += static_cast<char>(high << 4 | low);
  }
  return out;
}

std::string base64(std::string_view bytes) {
  auto out = encoded(bytes, standard);
  out.append((4 - out.size() % 4) % 4, '=');
  return out;
}

std::string base64url(std::string_view bytes) {
  return encoded(bytes, for_urls);
}

std::optional<std::string> base64_bytes(std::string_view text) {
  if (text.size() % 4 != 0) return std::nullopt;
  if (text.ends_with('=')) text.remove_suffix(text.ends_with("==") ? 2 : 1);
  return decoded(text, standard_values, true);
}

std::optional<std::string> base64url_bytes(std::string_view text) {
  return decoded(text, url_values, true);
}

std::optional<std::string> lenient_base64_bytes(std::string_view text) {
  while (text.ends_with('=')) text.remove_suffix(1);
  return decoded(text, all_values, false);
}

}  // namespace mcpbx

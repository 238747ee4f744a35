// Searches on which the speed of reading JSON depends: 16 bytes at a time with SSE2, one at a time elsewhere. They
// never read outside p … end.
#pragma once
#include <array>
#include <bit>
#include <cstdint>

#if defined(__SSE2__)
#include <emmintrin.h>
#endif

namespace mcpbx::byte_search {

namespace detail {

enum : std::uint8_t { in_string = 1, quote_or_escape = 2 };

inline constexpr std::array<std::uint8_t, 256> classes = [] {
  std::array<std::uint8_t, 256> t{};
  for (unsigned c = 0; c < 256; ++c) {
    if (c < 0x20 || c >= 0x80 || c == '"' || c == '\\') t[c] |= in_string;
    if (c == '"' || c == '\\') t[c] |= quote_or_escape;
  }
  return t;
}();

inline const char* find_class(const char* p, const char* end, std::uint8_t wanted) noexcept {
  while (p != end && !(classes[static_cast<unsigned char>(*p)] & wanted)) ++p;
  return p;
}

}  // namespace detail

#if defined(__SSE2__)
namespace detail {

/// Returns a bit for each special byte of a JSON string.
inline unsigned string_specials(__m128i x) noexcept {
  const __m128i quote = _mm_set1_epi8('"'), escape = _mm_set1_epi8('\\'), last_control = _mm_set1_epi8(0x1F);
  const __m128i control = _mm_cmpeq_epi8(_mm_min_epu8(x, last_control), x);
  const __m128i found = _mm_or_si128(_mm_or_si128(_mm_cmpeq_epi8(x, quote), _mm_cmpeq_epi8(x, escape)), control);
  // A byte >= 0x80 has the bit that movemask collects.
  return static_cast<unsigned>(_mm_movemask_epi8(_mm_or_si128(found, x)));
}

}  // namespace detail
#endif

/// Finds the first special byte of a JSON string: '"', '\', a control character or a byte >= 0x80; else `end`.
inline const char* string_special(const char* p, const char* end) noexcept {
#if defined(__SSE2__)
  for (; end - p >= 16; p += 16)
    if (const auto mask = detail::string_specials(_mm_loadu_si128(reinterpret_cast<const __m128i*>(p))); mask != 0)
      return p + std::countr_zero(mask);
  // Most keys and words are this short: their first and last eight bytes, which may overlap, are looked at together.
  if (end - p >= 8) {
    const __m128i first = _mm_loadl_epi64(reinterpret_cast<const __m128i*>(p));
    const __m128i last = _mm_loadl_epi64(reinterpret_cast<const __m128i*>(end - 8));
    const auto mask = detail::string_specials(_mm_unpacklo_epi64(first, last));
    if (mask == 0) return end;
    const int at = std::countr_zero(mask);
    return at < 8 ? p + at : end - 16 + at;
  }
#endif
  return detail::find_class(p, end, detail::in_string);
}

/// Finds the first '"' or '\'; else `end`.
inline const char* quote_or_escape(const char* p, const char* end) noexcept {
#if defined(__SSE2__)
  const __m128i quote = _mm_set1_epi8('"'), escape = _mm_set1_epi8('\\');
  for (; end - p >= 16; p += 16) {
    const __m128i x = _mm_loadu_si128(reinterpret_cast<const __m128i*>(p));
    const auto mask =
        static_cast<unsigned>(_mm_movemask_epi8(_mm_or_si128(_mm_cmpeq_epi8(x, quote), _mm_cmpeq_epi8(x, escape))));
    if (mask != 0) return p + std::countr_zero(mask);
  }
#endif
  return detail::find_class(p, end, detail::quote_or_escape);
}

/// Finds the first byte >= 0x80; else `end`.
inline const char* non_ascii(const char* p, const char* end) noexcept {
#if defined(__SSE2__)
  for (; end - p >= 16; p += 16) {
    const auto mask = static_cast<unsigned>(_mm_movemask_epi8(_mm_loadu_si128(reinterpret_cast<const __m128i*>(p))));
    if (mask != 0) return p + std::countr_zero(mask);
  }
#endif
  while (p != end && static_cast<unsigned char>(*p) < 0x80) ++p;
  return p;
}

/// Finds the first byte that is no JSON blank; else `end`.
inline const char* skip_blanks(const char* p, const char* end) noexcept {
  while (p != end && (*p == ' ' || *p == '\n' || *p == '\r' || *p == '\t')) ++p;
  return p;
}

}  // namespace mcpbx::byte_search

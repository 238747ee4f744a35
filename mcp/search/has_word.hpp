// Finds a short word in a text. memmem() and std::string_view::find() cost several times as much: the one makes a table
// first and goes on by two bytes, the other stops at each byte that the word begins with, and JSON is full of quotes.
#pragma once
#include <bit>
#include <cstddef>
#include <cstring>
#include <string_view>

#if defined(__SSE2__)
#include <emmintrin.h>
#endif

namespace mcpbx::search {

/// Returns `text` from a place before which `word` does not begin; of a long text without it the last bytes.
std::string_view from_word(std::string_view text, std::string_view word) noexcept;

/// Returns true if `word`, of at least two bytes, is in `text`.
inline bool has_word(std::string_view text, std::string_view word) noexcept {
  constexpr std::size_t long_text = 512;
  if (text.size() >= long_text) text = from_word(text, word);
#if defined(__SSE2__)
  constexpr std::size_t step = 16;
  const __m128i first = _mm_set1_epi8(word[0]), second = _mm_set1_epi8(word[1]);
  std::size_t at = 0;
  for (; at + step + word.size() <= text.size(); at += step) {
    const char* const p = text.data() + at;
    const __m128i firsts = _mm_cmpeq_epi8(_mm_loadu_si128(reinterpret_cast<const __m128i*>(p)), first);
    const __m128i seconds = _mm_cmpeq_epi8(_mm_loadu_si128(reinterpret_cast<const __m128i*>(p + 1)), second);
    auto both = static_cast<unsigned>(_mm_movemask_epi8(_mm_and_si128(firsts, seconds)));
    for (; both != 0; both &= both - 1)
      if (std::memcmp(p + std::countr_zero(both), word.data(), word.size()) == 0) return true;
  }
  text.remove_prefix(at);
#endif
  return text.find(word) != std::string_view::npos;
}

}  // namespace mcpbx::search

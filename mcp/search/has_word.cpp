// The search of long texts. The program is built for any x86-64, so it asks the processor before it uses AVX2.
#include "mcp/search/has_word.hpp"

#if defined(__x86_64__)
#include <immintrin.h>
#endif

namespace mcpbx::search {

#if defined(__x86_64__)

namespace {

/// Marks the bytes among the 32 at `p` with which the first two bytes of a word begin.
[[gnu::target("avx2")]] inline __m256i beginnings(const char* p, __m256i first, __m256i second) noexcept {
  return _mm256_and_si256(_mm256_cmpeq_epi8(_mm256_loadu_si256(reinterpret_cast<const __m256i*>(p)), first),
                          _mm256_cmpeq_epi8(_mm256_loadu_si256(reinterpret_cast<const __m256i*>(p + 1)), second));
}

[[gnu::target("avx2")]] std::string_view skip_others(std::string_view text, std::string_view word) noexcept {
  constexpr std::size_t step = 128;
  const __m256i first = _mm256_set1_epi8(word[0]), second = _mm256_set1_epi8(word[1]);
  std::size_t at = 0;
  for (; at + step + word.size() <= text.size(); at += step) {
    const char* const p = text.data() + at;
    const __m256i a = _mm256_or_si256(beginnings(p, first, second), beginnings(p + 32, first, second));
    const __m256i b = _mm256_or_si256(beginnings(p + 64, first, second), beginnings(p + 96, first, second));
    if (_mm256_movemask_epi8(_mm256_or_si256(a, b)) == 0) continue;
    if (text.substr(at, step + word.size() - 1).find(word) != std::string_view::npos) break;
  }
  return text.substr(at);
}

const bool has_avx2 = __builtin_cpu_supports("avx2") != 0;

}  // namespace

std::string_view from_word(std::string_view text, std::string_view word) noexcept {
  return has_avx2 ? skip_others(text, word) : text;
}

#else

std::string_view from_word(std::string_view text, std::string_view) noexcept {
  return text;
}

#endif

}  // namespace mcpbx::search

// The program is built for any x86-64, so it asks the processor before it uses AVX2.
#include "mcp/search/long_search.hpp"

#include "mcp/support/byte_search.hpp"

#if defined(__x86_64__)
#include <immintrin.h>
#endif

namespace mcpbx::search::byte_search {
namespace {

#if defined(__x86_64__)

const bool has_avx2 = __builtin_cpu_supports("avx2") != 0;

/// Marks the bytes among the 32 at `p` that are '"' or '\', and those that no string may have as well if `Special`.
template <bool Special>
[[gnu::target("avx2")]] __m256i marked(const char* p) noexcept {
  const __m256i x = _mm256_loadu_si256(reinterpret_cast<const __m256i*>(p));
  const __m256i found =
      _mm256_or_si256(_mm256_cmpeq_epi8(x, _mm256_set1_epi8('"')), _mm256_cmpeq_epi8(x, _mm256_set1_epi8('\\')));
  if constexpr (!Special) return found;
  // As signed numbers the bytes >= 0x80 are below the control characters, so one comparison finds both.
  return _mm256_or_si256(found, _mm256_cmpgt_epi8(_mm256_set1_epi8(0x20), x));
}

/// Returns the first 128 bytes that have a marked one, or the rest that is shorter.
template <bool Special>
[[gnu::target("avx2")]] const char* skip_unmarked(const char* p, const char* end) noexcept {
  for (; end - p >= 128; p += 128) {
    const __m256i a = _mm256_or_si256(marked<Special>(p), marked<Special>(p + 32));
    const __m256i b = _mm256_or_si256(marked<Special>(p + 64), marked<Special>(p + 96));
    if (_mm256_movemask_epi8(_mm256_or_si256(a, b)) != 0) break;
  }
  return p;
}

#else

constexpr bool has_avx2 = false;
template <bool Special>
const char* skip_unmarked(const char* p, const char*) noexcept {
  return p;
}

#endif

}  // namespace

const char* string_special_far(const char* p, const char* end) noexcept {
  return mcpbx::byte_search::string_special(has_avx2 ? skip_unmarked<true>(p, end) : p, end);
}

const char* quote_or_escape_far(const char* p, const char* end) noexcept {
  return mcpbx::byte_search::quote_or_escape(has_avx2 ? skip_unmarked<false>(p, end) : p, end);
}

}  // namespace mcpbx::search::byte_search

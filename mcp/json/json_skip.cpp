// Skips checked values. Containers are processed 64 bytes at a time: the unescaped quotes alone show which bytes are
// inside strings, and a block that cannot close the container needs only a count of its brackets.
#include "mcp/json/json_skip.hpp"

#include "mcp/search/long_search.hpp"
#include "mcp/support/byte_search.hpp"

#include <array>
#include <cstddef>
#include <cstdint>
#include <cstring>

namespace mcpbx::json::json_skip {
namespace {

#if defined(__SSE2__)

constexpr std::ptrdiff_t block_size = 64;

/// Masks with one bit for each byte of a block.
struct block_bits {
  std::uint64_t quote = 0, escape = 0, open = 0, close = 0;

  explicit block_bits(const char* p) noexcept {
    for (int i = 0; i < 4; ++i) {
      const __m128i x = _mm_loadu_si128(reinterpret_cast<const __m128i*>(p + 16 * i));
      // '[' and ']' differ from '{' and '}' in this one bit.
      const __m128i folded = _mm_or_si128(x, _mm_set1_epi8(0x20));
      const auto equal = [i](__m128i a, char c) {
        return static_cast<std::uint64_t>(static_cast<unsigned>(_mm_movemask_epi8(_mm_cmpeq_epi8(a, _mm_set1_epi8(c)))))
               << (16 * i);
      };
      quote |= equal(x, '"');
      escape |= equal(x, '\\');
      open |= equal(folded, '{');
      close |= equal(folded, '}');
    }
  }
};

/// Sets each bit to the parity of itself and all lower bits: ones from an opening quote to before the closing one.
std::uint64_t parity_so_far(std::uint64_t bits) noexcept {
  for (int shift = 1; shift < 64; shift *= 2) bits ^= bits << shift;
  return bits;
}

/// Returns the bytes that follow an escaping backslash. `open_escape`: the last block ended in such a backslash.
std::uint64_t escaped_bytes(std::uint64_t escapes, bool& open_escape) noexcept {
  std::uint64_t escaped = open_escape ? 1 : 0;
  open_escape = false;
  escapes &= ~escaped;
  while (escapes != 0) {
    const std::uint64_t first = escapes & (~escapes + 1), next = first << 1;
    open_escape = next == 0;
    escaped |= next;
    escapes &= ~(first | next);
  }
  return escaped;
}

#endif

const char* container(const char* p, const char* end) noexcept {
  std::size_t depth = 0;
  bool in_string = false, open_escape = false;
#if defined(__SSE2__)
  for (const char* next = p; p != end; p = next) {
    const bool whole = end - p >= block_size;
    next = whole ? p + block_size : end;
    // Copy the last bytes into a padded block: most containers are small, and a loop over bytes would take most of the
    // time.
    std::array<char, block_size> last;
    if (!whole) {
      last.fill(' ');
      std::memcpy(last.data(), p, static_cast<std::size_t>(end - p));
    }
    const block_bits bits(whole ? p : last.data());
    if (whole && in_string && !open_escape && (bits.quote | bits.escape) == 0) {
      // In the middle of a long string jump to its next quote or escape.
      next = search::byte_search::quote_or_escape_far(next, end);
      continue;
    }
    const std::uint64_t quotes = bits.quote & ~escaped_bytes(bits.escape, open_escape);
    const std::uint64_t inside = parity_so_far(quotes) ^ (in_string ? ~std::uint64_t{0} : 0);
    in_string = (inside >> 63) != 0;
    const std::uint64_t open = bits.open & ~inside, close = bits.close & ~inside;
    // Most containers end in their first block, so count its brackets only if necessary.
    if (depth > 1 || close == 0) {
      const auto closing = static_cast<std::size_t>(std::popcount(close));
      if (closing < depth || close == 0) {
        depth += static_cast<std::size_t>(std::popcount(open));
        depth -= closing;
        continue;
      }
    }
    for (std::uint64_t both = open | close; both != 0; both &= both - 1) {
      const int at = std::countr_zero(both);
      if ((open >> at & 1) != 0)
        ++depth;
      else if (depth <= 1)
        return p + at + 1;
      else
        --depth;
    }
  }
#else
  for (; p != end; ++p) {
    if (open_escape) {
      open_escape = false;
    } else if (in_string) {
      if (*p == '"') in_string = false;
      if (*p == '\\') open_escape = true;
    } else if (*p == '"') {
      in_string = true;
    } else if (*p == '{' || *p == '[') {
      ++depth;
    } else if (*p == '}' || *p == ']') {
      if (depth <= 1) return p + 1;
      --depth;
    }
  }
#endif
  return end;
}

}  // namespace

const char* string(const char* p, const char* end) noexcept {
  ++p;
  for (;;) {
    p = byte_search::quote_or_escape(p, end);
    if (p == end) return end;
    if (*p == '"') return p + 1;
    if (end - p < 2) return end;
    p += 2;
  }
}

const char* value(const char* p, const char* end) noexcept {
  if (p == end) return p;
  if (*p == '"') return string(p, end);
  if (*p == '{' || *p == '[') return container(p, end);
  // Skip a number or a literal up to a byte that may follow a value.
  while (p != end && *p != ',' && *p != '}' && *p != ']' && *p != ':' && static_cast<unsigned char>(*p) > ' ') ++p;
  return p;
}

}  // namespace mcpbx::json::json_skip

// How near a text is to a mark that some bytes of may have been lost.
#pragma once
#include "providers/text/marks/text_scan.hpp"

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <string_view>

namespace mcpbx::providers::text {

/// Whether an end of what was fed becomes `pattern` with at most `Most` bytes lost, replaced or come in. Two that
/// changed places count as two. Brackets and slashes of the pattern count twice: else two words that stand in marks too
/// would be as near to a border as two damaged marks. Values are long, so all of the pattern is compared at once, a bit
/// for each beginning of it (Wu and Manber).
template <unsigned Most>
class near_to {
 public:
  constexpr explicit near_to(std::string_view pattern) : end_(std::uint32_t{1} << pattern.size()) {
    unsigned lost = 0;
    for (std::size_t i = 0; i <= pattern.size(); ++i) {
      const auto bit = std::uint32_t{1} << i;
      if (i > 0) {
        const char c = pattern[i - 1];
        equal_[static_cast<unsigned char>(c)] |= bit;
        (is_name_char(c) ? once_ : twice_) |= bit;
        lost += is_name_char(c) ? 1 : 2;
      }
      for (auto most = lost; most <= Most; ++most) rows_[most] |= bit;
    }
  }
  bool feed(char c) {
    const auto equal = equal_[static_cast<unsigned char>(c)];
    // Of the two rows before: as it was, and what a byte of the pattern that is lost or replaced goes on from.
    std::uint32_t was = 0, from1 = 0, from2 = 0;
    for (auto& row : rows_) {
      const auto before = row;
      row = ((before << 1U) & equal) | was | (from1 & once_) | (from2 & twice_) | 1U;
      was = before;
      from2 = from1;
      from1 = (before | row) << 1U;
    }
    return (rows_[Most] & end_) != 0;
  }

 private:
  std::array<std::uint32_t, 256> equal_{};
  std::array<std::uint32_t, Most + 1> rows_{};  // the beginnings of the pattern that are as near as this
  std::uint32_t once_ = 0, twice_ = 0, end_;
};

/// Whether `text` holds `pattern` that near.
template <unsigned Most>
bool holds_nearly(std::string_view text, std::string_view pattern) {
  near_to<Most> near(pattern);
  return std::ranges::any_of(text, [&](char c) { return near.feed(c); });
}

}  // namespace mcpbx::providers::text

// Measures the edit distance between a text and a mark, to recognise damaged marks.
#pragma once
#include "providers/text/marks/text_scan.hpp"

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <string_view>

namespace mcpbx::providers::text::marks {

/// Finds an end of the fed text at an edit distance of at most `Most` from `pattern`; a swap counts as two edits.
/// Brackets and slashes of the pattern count twice: otherwise two plain words would be as near to a border as two
/// damaged marks. Compares all prefixes at once, a bit for each (Wu and Manber), because values are long.
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
    // States of the two previous rows: the old one, and those from which a lost or replaced byte continues.
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
  std::array<std::uint32_t, Most + 1> rows_{};  // for each distance, a bit for each prefix that is as near
  std::uint32_t once_ = 0, twice_ = 0, end_;
};

/// Returns true if some part of `text` is that near to `pattern`.
template <unsigned Most>
bool holds_nearly(std::string_view text, std::string_view pattern) {
  near_to<Most> near(pattern);
  return std::ranges::any_of(text, [&](char c) { return near.feed(c); });
}

}  // namespace mcpbx::providers::text::marks

// How near a text is to a mark that some bytes of may have been lost.
#pragma once
#include "providers/text/words.hpp"

#include <algorithm>
#include <cstddef>
#include <string_view>
#include <vector>

namespace mcpbx::providers::text {

/// How many bytes must be lost, replaced or come in to make `pattern` of an end of what was fed, at least (Sellers).
/// Two that changed places count as two. Brackets and slashes of the pattern count twice: else two words that stand in
/// marks too would be as near to a border as two damaged marks.
class distance_to {
 public:
  explicit distance_to(std::string_view pattern) : pattern_(pattern), cells_(pattern.size() + 1) {
    for (std::size_t i = 1; i < cells_.size(); ++i) cells_[i] = cells_[i - 1] + weight(pattern[i - 1]);
  }
  unsigned feed(char c) {
    unsigned diagonal = 0;
    for (std::size_t i = 1; i < cells_.size(); ++i) {
      const char wanted = pattern_[i - 1];
      const auto above = cells_[i], lost = weight(wanted);
      cells_[i] = std::min({above + 1, cells_[i - 1] + lost, diagonal + (wanted == c ? 0U : lost)});
      diagonal = above;
    }
    return cells_.back();
  }

 private:
  static unsigned weight(char c) { return is_name_char(c) ? 1 : 2; }

  std::string_view pattern_;
  std::vector<unsigned> cells_;
};

/// Whether `text` holds `pattern` at no more than this distance.
inline bool holds_nearly(std::string_view text, std::string_view pattern, unsigned most) {
  distance_to near(pattern);
  return std::ranges::any_of(text, [&](char c) { return near.feed(c) <= most; });
}

}  // namespace mcpbx::providers::text

// Marks of MiniMax's calls, each behind a token of its own: ]<]minimax[>[<invoke name="NAME">.
#pragma once
#include "providers/text/marks/text_scan.hpp"

#include <cstddef>
#include <string_view>

namespace mcpbx::providers::text::marks {

/// The token before each mark.
inline constexpr std::string_view minimax_mark = "]<]minimax[>[";

enum class minimax_kind : unsigned char {
  invoke,   ///< a call begins
  section,  ///< calls follow
  other     ///< another mark, or none
};
struct minimax_found {
  match is = match::no;
  minimax_kind kind = minimax_kind::other;
  std::size_t size = 0;  ///< bytes of the token, with the mark of a section
};

/// Finds the token at the beginning of `s`, and the mark behind it and at most 256 blanks.
minimax_found match_minimax(std::string_view s);

}  // namespace mcpbx::providers::text::marks

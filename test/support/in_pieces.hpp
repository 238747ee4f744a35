// A text given to what reads a stream, in pieces of any size: what comes of it must not depend on them.
#pragma once
#include "test/support/read_sizes.hpp"

#include <doctest/doctest.h>

#include <algorithm>
#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

namespace mcpbx::test {

/// Gives `bytes` to `take` in pieces of `size`, or of changing ones where it is 0. Each lies in memory of its own,
/// which is gone behind it.
template <class Take>
void in_pieces(std::string_view bytes, std::size_t size, Take&& take) {
  for (std::size_t at = 0, turn = 0; at < bytes.size(); ++turn) {
    const auto wanted = size == 0 ? awkward_sizes[turn * 7 % awkward_sizes.size()] : size;
    const auto part = bytes.substr(at, wanted);
    const std::vector<char> piece(part.begin(), part.end());
    take(std::string_view(piece.data(), piece.size()));
    at += part.size();
  }
}

/// Checks that `outcome(bytes, size)`, which reads `bytes` with in_pieces(), is for pieces of each size what it is for
/// the whole.
template <class Outcome>
void check_in_any_pieces(std::string_view bytes, Outcome&& outcome) {
  const auto whole = outcome(bytes, std::string_view::npos);
  CHECK((outcome(bytes, 0) == whole));
  for (const std::size_t size : awkward_sizes) {
    if (size >= bytes.size()) break;
    CAPTURE(size);
    CHECK((outcome(bytes, size) == whole));
  }
}

/// Words of exactly so many bytes, none of which has a meaning in any format.
inline std::string filler_words(std::size_t bytes) {
  std::string text;
  for (int i = 0; text.size() < bytes; ++i) text += "word " + std::to_string(i) + ", ";
  text.resize(bytes, 'x');
  return text;
}

}  // namespace mcpbx::test

// Splits reasoning from text. A mark may be split between two pieces at any byte.
#include "providers/wire/thought_splitter.hpp"

#include <algorithm>
#include <utility>

namespace mcpbx::providers::wire {
namespace {

constexpr std::string_view open_mark = "<think>", close_mark = "</think>";
constexpr auto npos = std::string_view::npos;

// Returns the length of the end of `text` that may be the beginning of `mark`.
std::size_t partial_mark(std::string_view text, std::string_view mark) {
  for (auto n = std::min(text.size(), mark.size() - 1); n > 0; --n)
    if (text.ends_with(mark.substr(0, n))) return n;
  return 0;
}

}  // namespace

thought_splitter::pieces thought_splitter::split(bool last) {
  pieces out;
  if (state_ == state::start) {
    const auto from = std::min(held_.find_first_not_of(" \t\r\n"), held_.size());
    const auto text = std::string_view(held_).substr(from);
    if (text.starts_with(open_mark)) {
      held_.erase(0, from + open_mark.size());
      state_ = state::inside;
    } else if (last || !open_mark.starts_with(text)) {
      state_ = state::outside;
    } else {
      return out;
    }
  }
  if (state_ == state::inside) {
    const auto at = held_.find(close_mark);
    const auto known = at != npos ? at : held_.size() - (last ? 0 : partial_mark(held_, close_mark));
    out.thought = held_.substr(0, known);
    held_.erase(0, known);
    if (at == npos) return out;
    held_.erase(0, close_mark.size());
    state_ = state::after;
  }
  if (state_ == state::after) {
    held_.erase(0, std::min(held_.find_first_not_of("\r\n"), held_.size()));
    if (held_.empty()) return out;
    state_ = state::outside;
  }
  out.text = std::exchange(held_, {});
  return out;
}

}  // namespace mcpbx::providers::wire

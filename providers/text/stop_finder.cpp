// Finds stop sequences with one automaton each (Knuth, Morris, Pratt). Every byte advances all of them, so held-back
// text is never scanned again.
#include "providers/text/stop_finder.hpp"

#include <algorithm>
#include <utility>

namespace mcpbx::providers::text {

stop_finder::stop_finder(std::vector<std::string> stops) {
  for (auto& text : stops) {
    if (text.empty()) continue;
    stop s{std::move(text), {}, 0};
    s.shorter.resize(s.text.size());
    for (std::size_t i = 1, same = 0; i < s.text.size(); ++i) {
      while (same > 0 && s.text[i] != s.text[same]) same = s.shorter[same - 1];
      if (s.text[i] == s.text[same]) ++same;
      s.shorter[i] = same;
    }
    stops_.push_back(std::move(s));
  }
}

std::string stop_finder::feed(std::string_view delta) {
  if (found_) return {};
  if (stops_.empty()) return std::string(delta);
  std::size_t longest = 0;  // length of the longest complete stop
  for (std::size_t i = 0; i < delta.size(); ++i) {
    for (auto& s : stops_) {
      while (s.matched > 0 && s.text[s.matched] != delta[i]) s.matched = s.shorter[s.matched - 1];
      if (s.text[s.matched] == delta[i]) ++s.matched;
      if (s.matched == s.text.size()) longest = std::max(longest, s.matched);
    }
    if (longest == 0) continue;
    found_ = true;
    held_ += delta.substr(0, i + 1);
    held_.resize(held_.size() - longest);
    return rest();
  }
  held_ += delta;
  std::size_t begun = 0;
  for (const auto& s : stops_) begun = std::max(begun, s.matched);
  auto out = held_.substr(told_, held_.size() - begun - told_);
  told_ = held_.size() - begun;
  // Erase in large steps, so that the rest is not moved for each byte.
  if (told_ >= begun) {
    held_.erase(0, told_);
    told_ = 0;
  }
  return out;
}

std::string stop_finder::rest() {
  return std::exchange(held_, {}).substr(std::exchange(told_, 0));
}

}  // namespace mcpbx::providers::text

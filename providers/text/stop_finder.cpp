// What is held back is shorter than the longest stop, so that each byte is looked at a few times only.
#include "providers/text/stop_finder.hpp"

#include <algorithm>
#include <utility>

namespace mcpbx::providers::text {

stop_finder::stop_finder(std::vector<std::string> stops) : stops_(std::move(stops)) {
  std::erase(stops_, "");
  for (const auto& stop : stops_) longest_ = std::max(longest_, stop.size());
}

std::string stop_finder::feed(std::string_view delta) {
  if (found_) return {};
  held_ += delta;
  auto begin = std::string::npos, end = std::string::npos;
  for (const auto& stop : stops_) {
    const auto at = held_.find(stop);
    if (at == std::string::npos || std::pair(at + stop.size(), at) >= std::pair(end, begin)) continue;
    begin = at;
    end = at + stop.size();
  }
  if (begin != std::string::npos) {
    found_ = true;
    held_.resize(begin);
    return std::exchange(held_, {});
  }
  auto told = held_.size() - std::min(held_.size(), longest_ == 0 ? 0 : longest_ - 1);
  const auto begins_stop = [&](std::string_view end_of) {
    return std::ranges::any_of(stops_, [&](const auto& stop) { return stop.starts_with(end_of); });
  };
  while (told < held_.size() && !begins_stop(std::string_view(held_).substr(told))) ++told;
  auto out = held_.substr(0, told);
  held_.erase(0, told);
  return out;
}

std::string stop_finder::rest() {
  return std::exchange(held_, {});
}

}  // namespace mcpbx::providers::text

// Which pinned definitions a caller was shown, as hashes: what it approves without naming a hash must be that.
#pragma once
#include <algorithm>
#include <cstddef>
#include <deque>
#include <string>
#include <string_view>
#include <utility>

namespace mcpbx::daemon {

class seen_pins {
 public:
  /// The definitions of what was asked for as `name` were told, and have this hash.
  void note(const std::string& name, const std::string& hash) {
    std::erase_if(seen_, [&](const auto& one) { return one.first == name; });
    seen_.emplace_back(name, hash);
    if (seen_.size() > most) seen_.pop_front();
  }
  /// "" when it was not shown, or not lately.
  std::string of(std::string_view name) const {
    const auto found = std::ranges::find(seen_, name, [](const auto& one) -> std::string_view { return one.first; });
    return found == seen_.end() ? std::string() : found->second;
  }

 private:
  static constexpr std::size_t most = 64;
  std::deque<std::pair<std::string, std::string>> seen_;
};

}  // namespace mcpbx::daemon

// Hashes of the pinned definitions that a caller was shown; an approval without a hash must refer to these.
#pragma once
#include <algorithm>
#include <cstddef>
#include <deque>
#include <string>
#include <string_view>
#include <utility>

namespace mcpbx::daemon::front {

class seen_pins {
 public:
  /// Records the hash of the definitions shown for `name`.
  void note(const std::string& name, const std::string& hash) {
    std::erase_if(seen_, [&](const auto& one) { return one.first == name; });
    seen_.emplace_back(name, hash);
    if (seen_.size() > most) seen_.pop_front();
  }
  /// Returns the hash shown for `name`, or "" if there was none lately.
  std::string of(std::string_view name) const {
    const auto found = std::ranges::find(seen_, name, [](const auto& one) -> std::string_view { return one.first; });
    return found == seen_.end() ? std::string() : found->second;
  }

 private:
  static constexpr std::size_t most = 64;
  std::deque<std::pair<std::string, std::string>> seen_;
};

}  // namespace mcpbx::daemon::front

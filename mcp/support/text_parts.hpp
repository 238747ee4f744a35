// A growing text in parts. A string would take up to three times the memory while it grows.
#pragma once
#include <algorithm>
#include <cstddef>
#include <deque>
#include <string>
#include <string_view>
#include <utility>

namespace mcpbx {

class text_parts {
 public:
  text_parts& operator+=(std::string_view text) {
    size_ += text.size();
    while (!text.empty()) {
      if (parts_.empty() || parts_.back().size() == parts_.back().capacity())
        parts_.emplace_back().reserve(std::clamp(std::max(text.size(), size_ / 4), std::size_t{64}, largest_part));
      auto& last = parts_.back();
      const auto some = text.substr(0, last.capacity() - last.size());
      last += some;
      text.remove_prefix(some.size());
    }
    return *this;
  }
  std::size_t size() const noexcept { return size_; }
  bool empty() const noexcept { return size_ == 0; }
  /// Returns the allocated size in bytes.
  std::size_t capacity() const noexcept {
    return parts_.empty() ? 0 : size_ + parts_.back().capacity() - parts_.back().size();
  }
  /// Frees the memory.
  void clear() noexcept {
    parts_ = std::deque<std::string>();
    size_ = 0;
  }
  std::string str() const {
    std::string all;
    all.reserve(size_);
    for (const auto& p : parts_) all += p;
    return all;
  }
  /// Joins all parts to a string and frees each on the way.
  std::string take() {
    std::string all;
    all.reserve(std::exchange(size_, 0));
    for (; !parts_.empty(); parts_.pop_front()) all += parts_.front();
    return all;
  }
  bool operator==(std::string_view text) const noexcept {
    if (text.size() != size_) return false;
    for (const auto& p : parts_) {
      if (!text.starts_with(p)) return false;
      text.remove_prefix(p.size());
    }
    return true;
  }

 private:
  static constexpr std::size_t largest_part = std::size_t{64} << 10;
  std::deque<std::string> parts_;
  std::size_t size_ = 0;
};

}  // namespace mcpbx

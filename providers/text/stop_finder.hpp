// Where an answer has to end that was asked to stop before certain texts, whoever enforces it.
#pragma once
#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

namespace mcpbx::providers::text {

/// Reads an answer as it arrives and gives it on up to the first stop: the one that is complete first, and of several
/// that are so at once the longest, as providers do it. However the answer is cut, the same comes out.
class stop_finder {
 public:
  /// Empty stops are none.
  explicit stop_finder(std::vector<std::string> stops);
  /// What may be told now: what could be the beginning of a stop is held back. Nothing once one was found.
  std::string feed(std::string_view delta);
  /// No more comes: what was held back.
  std::string rest();
  bool found() const { return found_; }

 private:
  struct stop {
    std::string text;
    std::vector<std::size_t> shorter;  // of each beginning, the longest shorter one that it ends in
    std::size_t matched = 0;           // how much of it the answer ends in now
  };
  std::vector<stop> stops_;
  std::string held_;      // what was told of it stays for a while
  std::size_t told_ = 0;  // of held_
  bool found_ = false;
};

}  // namespace mcpbx::providers::text

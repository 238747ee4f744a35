// Separates reasoning that a model writes at the beginning of its content, between <think> and </think>, from the text.
#pragma once
#include <cstdint>
#include <string>
#include <string_view>

namespace mcpbx::providers::wire {

class thought_splitter {
 public:
  struct pieces {
    std::string thought, text;  ///< the thought comes before the text
  };
  /// Takes the next piece of content and returns the decided part. Holds back a possible beginning of a mark.
  pieces take(std::string_view content) {
    held_ += content;
    return split(false);
  }
  /// Ends the content and returns the part that was held back.
  pieces finish() { return split(true); }
  /// Returns true if all further content is text, so that take() need not be called any more.
  bool outside() const { return state_ == state::outside; }

 private:
  enum class state : std::uint8_t { start, inside, after, outside };
  pieces split(bool last);
  state state_ = state::start;
  std::string held_;
};

}  // namespace mcpbx::providers::wire

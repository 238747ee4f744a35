// Joins strings that a stream sends in pieces, each of them a JSON string; an escape may be split between two pieces.
#pragma once
#include <string>
#include <string_view>

namespace mcpbx::providers::wire {

/// Unescapes string tokens one after another. A surrogate pair may be split between two tokens (emoji of some servers).
class string_joiner {
 public:
  /// Returns the text of `token`, a JSON string with its quotes. The view is valid until the next call and as long as
  /// `token`.
  std::string_view take(std::string_view token);

 private:
  std::string held_;  // escape of a high surrogate at the end of the last token
  std::string text_;
};

}  // namespace mcpbx::providers::wire

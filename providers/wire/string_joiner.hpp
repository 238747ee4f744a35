// Strings that a stream sends in pieces, each a JSON string of its own, whose escapes may be cut between two of them.
#pragma once
#include <string>
#include <string_view>

namespace mcpbx::providers {

/// Unescapes string tokens one after another. A surrogate pair may be split between two tokens (emoji of some servers).
class string_joiner {
 public:
  /// The text of `token`, a JSON string with its quotes. Valid until the next call and while `token` is.
  std::string_view take(std::string_view token);

 private:
  std::string held_;  // a high surrogate's escape that ended the last token
  std::string text_;
};

}  // namespace mcpbx::providers

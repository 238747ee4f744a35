// Distinguishes calls that a model makes in text from calls that it quotes. Text from a tool result or a user message
// is never run, even if the model repeats it with other line beginnings, escapes, entities, order of arguments, or in
// part.
#pragma once
#include "providers/model/message.hpp"

#include <memory>
#include <string>
#include <string_view>
#include <vector>

namespace mcpbx::providers::call {

/// Index of the calls quoted in tool results, user messages and foreign texts of one conversation. All else of the
/// system prompt is trusted, and the model's own messages do not count as quotations.
class quoted_calls {
 public:
  /// `messages` must outlive this object. The texts are indexed at the first has().
  explicit quoted_calls(const std::vector<message_ptr>& messages) : messages_(messages) {}

  /// Returns true if one of the texts contains a call with this name and these arguments. After searching `most_bytes`,
  /// over all questions, it returns true for every call, to be safe.
  bool has(const tool_call_block& call);

  static constexpr std::size_t most_bytes = std::size_t{64} << 20;

 private:
  struct source {
    std::string text;  ///< its skeleton
    std::vector<std::size_t> marks;
    bool recipients = false;      ///< it has the word for a recipient of Harmony, `to=`
    bool tells_of_tools = false;  ///< it tells how to use tools, so that a name beside "tool" or "input" is no call yet
  };
  void collect();
  void add(std::string_view text, bool tells_of_tools);

  const std::vector<message_ptr>& messages_;
  bool collected_ = false;
  std::size_t looked_ = 0;  ///< bytes
  std::vector<source> sources_;
};

/// Reduces `text` to what all quotations of it share: removes blanks, punctuation and case, and decodes JSON escapes
/// (of any depth) and HTML entities. Words run together: "a: b\n" becomes "ab".
std::string skeleton_of(std::string_view text);

}  // namespace mcpbx::providers::call

// Tells a call that a model makes from one that it quotes. Text of a tool's result or of a user's message is never a
// call, however the model repeats it: with other line beginnings, escapes, entities, order of arguments, or in part.
#pragma once
#include "providers/model/message.hpp"

#include <memory>
#include <string>
#include <string_view>
#include <vector>

namespace mcpbx::providers {

/// What stands around calls in the results and user messages of one conversation. The system prompt is trusted, and the
/// model's own messages are its own.
class quoted_calls {
 public:
  /// `messages` must outlive this. Nothing is looked at before the first question.
  explicit quoted_calls(const std::vector<message_ptr>& messages) : messages_(messages) {}

  /// Whether a call with this name and these arguments stands in one of the texts. Once `most_bytes` have been looked
  /// through, for all questions together, every call counts as quoted.
  bool has(const tool_call_block& call);

  static constexpr std::size_t most_bytes = std::size_t{64} << 20;

 private:
  struct source {
    std::string text;  ///< its skeleton
    std::vector<std::size_t> marks;
  };
  void collect();
  void add(std::string_view text);

  const std::vector<message_ptr>& messages_;
  bool collected_ = false;
  std::size_t looked_ = 0;  ///< bytes
  std::vector<source> sources_;
};

/// `text` with everything taken out in which quotations of one text differ: blanks, punctuation, escapes of JSON (as
/// many levels as there are), entities of HTML, and case. Words are run together: "a: b\n" is "ab".
std::string skeleton_of(std::string_view text);

}  // namespace mcpbx::providers

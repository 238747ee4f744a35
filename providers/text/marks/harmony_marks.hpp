// Headers of messages in Harmony, the form of gpt-oss: <|start|>ROLE<|channel|>CHANNEL to=RECIPIENT
// <|constrain|>TYPE<|message|>. Some servers take the special tokens out and pass on the words between them.
#pragma once
#include "providers/text/marks/marks.hpp"

#include <array>
#include <cstddef>
#include <string>
#include <string_view>

namespace mcpbx::providers::text::marks {

/// Tokens that end a message, or begin the next one.
inline constexpr std::array<std::string_view, 5> harmony_ends{"<|call|>", "<|end|>", "<|return|>", "<|start|>",
                                                              "<|channel|>"};
inline constexpr std::string_view harmony_call_end = "<|call|>", harmony_end = "<|end|>";
/// Words that the reasoning and the answer begin with where all special tokens are missing.
inline constexpr std::string_view bare_reasoning = "analysis", bare_answer = "assistantfinal";

/// A header. Its parts are views of the text.
struct harmony_header {
  match is = match::no;      ///< yes: the text of the message follows at `size`; maybe: more text is needed
  std::size_t size = 0;      ///< bytes
  bool complete = false;     ///< it ends in <|message|>
  bool doubtful = false;     ///< it names two recipients
  bool constrained = false;  ///< it names the type of its text
  std::string_view author, channel, recipient;

  /// Returns true if the message calls a tool.
  bool calls() const;
  /// Returns true if the message is the result of a tool, which a model never writes.
  bool is_result() const;
};

/// Reads the header that begins with <|start|> or <|channel|>. `no`: the token stands alone.
harmony_header read_harmony_header(std::string_view s);
/// Reads the header of a call without its first special tokens, or without any: `commentary to=functions.NAME json`.
/// It counts only with the namespace `functions` or the name of an offered tool, and before an object or <|message|>.
harmony_header read_bare_header(std::string_view s, const offered_tools& tools);
/// Returns true if read_bare_header() may find a header at `s`, by its first word. `in_line`: within a line only the
/// words count that a lost token leaves behind other text, `assistantcommentary to=` and `assistantfinal`.
match begins_bare_header(std::string_view s, bool in_line);

/// Returns the name of the tool in a recipient. A word of the header may stick to it where a token was lost.
std::string harmony_tool(std::string_view recipient, const offered_tools& tools);

/// Returns true for a recipient that counts without special tokens before it: in the namespace `functions`, or offered.
bool names_harmony_tool(std::string_view recipient, const offered_tools& tools);
/// Finds the words that the next message begins with where all special tokens are missing.
match begins_next_message(std::string_view s);

/// Finds the end of reasoning at `<|`: a token that ends the message, or the header of another one.
found_tag match_reasoning_end(std::string_view s);

}  // namespace mcpbx::providers::text::marks

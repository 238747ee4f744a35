// Tool calling for models without an API for it. Each format is a stateless object that describes tools to the model,
// makes the parser of its calls, and writes results.
#pragma once
#include "providers/model/message.hpp"
#include "providers/text/marks/parser.hpp"

#include <memory>
#include <span>
#include <string>
#include <string_view>

namespace mcpbx::providers::text {

class tool_format {
 public:
  virtual ~tool_format() = default;
  /// Returns the word of `toolFormat` in the configuration.
  virtual std::string_view name() const = 0;
  /// Returns text for the system prompt: the tools with their schemas, the exact form of a call, the order to stop
  /// behind one call.
  virtual std::string prompt(const tool_set& tools) const = 0;
  /// Returns string literals that the provider gets as stop sequences. The parser enforces them as well.
  virtual std::span<const std::string_view> stop_sequences() const = 0;
  virtual std::unique_ptr<marks::text_parser> make_parser(const marks::offered_tools& tools,
                                                          marks::parser_options options) const = 0;
  /// Writes a call in this form, for a conversation that another model began.
  virtual std::string call(const tool_call_block& call) const = 0;
  /// Writes a result for the model. `text` cannot close the marks around it.
  virtual std::string result(std::string_view tool, std::string_view text) const = 0;
  /// Returns a model's text without calls and marks, as people may see it.
  std::string sanitize(std::string_view text) const;
};

/// Finds react, hermes, qwen3-coder, llama3, mistral, xml, glm, harmony, deepseek, gemma or minimax; null for another
/// name.
const tool_format* find_format(std::string_view name);
/// Returns all formats.
std::span<const tool_format* const> formats();
/// Guesses from a model's id the format that it was trained on. Unknown models get react, which every model can follow.
const tool_format& format_of_model(std::string_view id);
/// Returns the format that writes calls in these forms (parsed_reply::forms), or null.
const tool_format* format_of_calls(unsigned forms);

}  // namespace mcpbx::providers::text

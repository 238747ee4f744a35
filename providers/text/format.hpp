// Tool calling for models without an API for it: how tools are described to the model, how its calls are read, and how
// results go back. One object per format; all of them are stateless.
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
  /// As `toolFormat` in the configuration spells it.
  virtual std::string_view name() const = 0;
  /// For the system prompt: the tools with their schemas, the exact form of a call, one call and then stop.
  virtual std::string prompt(const tool_set& tools) const = 0;
  /// Sent to the provider, and enforced by the parser as well. Literals.
  virtual std::span<const std::string_view> stop_sequences() const = 0;
  virtual std::unique_ptr<text_parser> make_parser(const offered_tools& tools, parser_options options) const = 0;
  /// A call in this form, for a conversation that another model began.
  virtual std::string call(const tool_call_block& call) const = 0;
  /// The result of a call for the model; `text` cannot leave the marks around it.
  virtual std::string result(std::string_view tool, std::string_view text) const = 0;
  /// What of a model's text people may see: without calls and marks.
  std::string sanitize(std::string_view text) const;
};

/// react, hermes, qwen3-coder, llama3, mistral, xml, glm; null for another name.
const tool_format* find_format(std::string_view name);
/// All of them.
std::span<const tool_format* const> formats();
/// The format that a model was most likely trained on, by its id; react, which every model can follow, for others.
const tool_format& format_of_model(std::string_view id);
/// The format whose calls look like these (parsed_reply::forms), or null.
const tool_format* format_of_calls(unsigned forms);

}  // namespace mcpbx::providers::text

// Wraps a model whose tools may travel as text. As a wrapper it works with every API and can repeat a request in
// another form; the loop sees ordinary calls.
#pragma once
#include "providers/model/message.hpp"
#include "providers/text/format.hpp"

#include <memory>

namespace mcpbx::providers::call {

struct text_tools_options {
  /// Text format for tools; null: tools go through the API (natively).
  const text::tool_format* format = nullptr;
  /// For native tools: change to a text format, for the life of this object, if the server says that it supports no
  /// tools, or at the second reply that is nothing but calls as text.
  bool fall_back = false;
  /// For native tools: the server may fail to recognise calls, so run a reply that is nothing but calls as text. False:
  /// text is never a call.
  bool may_lose_calls = true;
};

/// Wraps `inner`. Calls quoted from a tool result or a user message are not run. With native tools, native calls win
/// over calls as text. The marks of calls that are not run are hidden. After two replies in a row with unreadable calls
/// only, the next reply counts as the answer, calls or not.
std::unique_ptr<model> make_text_tools_model(std::shared_ptr<model> inner, text_tools_options options);

/// Returns true if an error means that the model or its server supports no tools at all.
bool says_no_tools(const model_error& e);

}  // namespace mcpbx::providers::call

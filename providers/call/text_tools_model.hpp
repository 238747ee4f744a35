// A model whose tools may travel as text: a model around a model, so that it works with every API and can ask a second
// time in another form. The loop sees calls as from an API for them.
#pragma once
#include "providers/model/message.hpp"
#include "providers/text/format.hpp"

#include <memory>

namespace mcpbx::providers {

struct text_tools_options {
  /// Null: tools go to the API's own place for them.
  const text::tool_format* format = nullptr;
  /// With the API's own place: when the server says that it knows no tools, or the model writes calls as text, change
  /// to a text format, once for the life of the model. Calls as text do so the second time that a reply is nothing
  /// else.
  bool fall_back = false;
  /// With the API's own place: the server is one that may lose calls in the text, so a reply that is nothing but calls
  /// is one. Otherwise text is text.
  bool may_lose_calls = true;
};

/// Calls that stand in a tool's result or in a user's message are quotations and not run. Where tools go to the API's
/// own place, a reply that is nothing but calls as text is found and run all the same if the server may lose calls;
/// calls that come as they should win over them. Nobody sees the marks of calls that are not run. After two replies in
/// a row with nothing but unreadable calls, the next one is the answer as text, whatever it is.
std::unique_ptr<model> make_text_tools_model(std::shared_ptr<model> inner, text_tools_options options);

/// Whether an error means that the model or its server takes no tools at all.
bool says_no_tools(const model_error& e);

}  // namespace mcpbx::providers

// Translates a conversation with tools for a model that gets tools as text (providers/text): definitions go into the
// system prompt, calls stay the model's own words, results become user messages.
#pragma once
#include "providers/model/message.hpp"
#include "providers/text/format.hpp"

#include <string>
#include <string_view>

namespace mcpbx::providers::call {

/// Returns `request` without native tools, calls and results; if a tool is required, the note says so. Each message
/// keeps its translation, so that consecutive requests share their bytes.
model_request in_text(const model_request& request, const text::tool_format& format);

/// Returns a block that stores the model's own words in a reply. in_text() sends them back in the next request of the
/// same format; all others ignore the block.
opaque_block own_words(const text::tool_format& format, std::string_view text);

/// Counts the replies at the end of the conversation that hold nothing but unreadable calls.
int unreadable_replies(const model_request& request);

}  // namespace mcpbx::providers::call

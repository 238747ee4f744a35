// A conversation with tools as a model gets it that is told of tools in text (providers/text): the tools stand in the
// system prompt, its calls are what it wrote, results are messages of the user's side.
#pragma once
#include "providers/model/message.hpp"
#include "providers/text/format.hpp"

#include <string>
#include <string_view>

namespace mcpbx::providers {

/// `request` without tools, calls and results; where a tool has to be called its note says so. Each message is
/// translated once and kept with it, so that consecutive requests share their bytes.
model_request in_text(const model_request& request, const text::tool_format& format);

/// What goes into a reply beside its calls, so that the model finds its own words in the next request: read by in_text
/// for the same format, opaque to everybody else.
opaque_block own_words(const text::tool_format& format, std::string_view text);

/// How many replies at the end of the conversation were nothing but calls that could not be read.
int unreadable_replies(const model_request& request);

}  // namespace mcpbx::providers

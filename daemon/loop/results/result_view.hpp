// What the model gets to see of a tool's result (L14): the result itself, unless it is empty or too large. The caller
// and the journal keep the whole; the model can read on in pages.
#pragma once
#include "mcp/json/raw_json.hpp"

#include <cstdint>
#include <string_view>

namespace mcpbx::daemon {

struct result_view {
  raw_json shown;
  bool text_missing = false;  ///< there is more to read than `shown`
};

/// `result` (no copy) when it has something to say in at most `max_bytes`, without what nobody sees (hidden_text.hpp):
/// every way of a server's text to a model leads through here. A result without content becomes `empty_text`; of a
/// larger one head and tail of its text are left, with a notice between them of what is missing and how to read it by
/// `call_id`. Parts that are no text (images, resources) are kept whole or left out with their size. Pure: the fold
/// depends on it.
result_view model_view(const raw_json& result, bool is_error, std::int64_t max_bytes, std::string_view empty_text,
                       std::string_view call_id);

}  // namespace mcpbx::daemon

// What the model gets to see of a tool's result (L14): the result itself, unless it is empty or too large. The caller
// and the journal keep the whole.
#pragma once
#include "mcp/support/raw_json.hpp"

#include <cstdint>
#include <string_view>

namespace mcpbx::daemon {

/// `result` unchanged (no copy) when it has something to say in at most `max_bytes`. A result without content becomes
/// `empty_text`; of a larger one the head of its text is left with a notice of what was cut. Parts that are no text
/// (images, resources) are kept whole or left out with their size. Pure: the fold depends on it.
raw_json model_view(const raw_json& result, bool is_error, std::int64_t max_bytes, std::string_view empty_text);

}  // namespace mcpbx::daemon

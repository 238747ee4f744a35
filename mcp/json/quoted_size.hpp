// Computes the length of a text as a JSON string, for callers that allocate the exact size.
#pragma once
#include <cstddef>
#include <string_view>

namespace mcpbx::json {

/// Returns the number of bytes that append_quoted() appends.
std::size_t quoted_size(std::string_view text);

}  // namespace mcpbx::json

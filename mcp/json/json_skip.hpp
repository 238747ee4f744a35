// Finds the end of values in text that the scanner has accepted. It checks nothing again and is several times as fast
// as the scanner. For other text the result is meaningless, but no byte outside is read.
#pragma once

namespace mcpbx::json::json_skip {

/// Returns the position behind the string whose opening quote is at `p`; `end` if it is not closed.
const char* string(const char* p, const char* end) noexcept;
/// Returns the position behind the value that begins at `p`; `p` itself if none does.
const char* value(const char* p, const char* end) noexcept;

}  // namespace mcpbx::json::json_skip

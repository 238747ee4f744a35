// Finding the end of a value in text that the scanner has accepted. Nothing is checked again, so this is several times
// as fast as the scanner; on any other text the answer is useless but nothing outside of it is read.
#pragma once

namespace mcpbx::json_skip {

/// Behind the string whose opening quote is at `p`; `end` when it is not closed.
const char* string(const char* p, const char* end) noexcept;
/// Behind the value that begins at `p`; `p` itself when none does.
const char* value(const char* p, const char* end) noexcept;

}  // namespace mcpbx::json_skip

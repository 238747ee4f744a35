// Foreign text in front of a person who decides by it: every character is seen, and no line of it looks like one of
// ours. Pure.
#pragma once
#include <cstddef>
#include <string>
#include <string_view>

namespace mcpbx::cli {

/// A name in quotes, in which nothing is hidden: quotes and backslashes are escaped, so are blanks behind a blank, and
/// characters that are not seen are `\u{…}`.
std::string quoted_name(std::string_view name);

/// `text` behind `head`, its further lines behind "  | ", all of them broken at `width` columns (0: nowhere), so that a
/// terminal breaks none. What is not seen is shown as `\u{…}`. Ends with a line break.
std::string framed(std::string_view head, std::string_view text, std::size_t width = 0);

/// The same with the beginning and the end of a text of more than `most` bytes, and between them a line of ours that
/// says what is left out and `how` it is seen.
std::string framed_ends(std::string_view head, std::string_view text, std::size_t width, std::size_t most,
                        std::string_view how);

/// The first `most` bytes of a text, followed by how many there are when that is not all.
std::string beginning(std::string_view text, std::size_t most);

/// What is said below a text that has_hidden() (mcp/redact/hidden_text.hpp).
inline constexpr std::string_view hidden_note =
    "  it has characters that are not seen; they are shown as \\u{…} and are sent as they are";

}  // namespace mcpbx::cli

// Formats foreign text for a person who decides by it: every character is visible, and no line looks like one of ours.
#pragma once
#include <cstddef>
#include <string>
#include <string_view>

namespace mcpbx::cli::terminals {

/// Returns a name in quotes without hidden parts: escapes quotes, backslashes and repeated blanks, and shows invisible
/// characters as `\u{…}`.
std::string quoted_name(std::string_view name);

/// Returns `text` behind `head`, with further lines behind "  | ". Breaks lines at `width` columns (0: nowhere), so
/// that the terminal breaks none. Shows invisible characters as `\u{…}`. Ends with a line break.
std::string framed(std::string_view head, std::string_view text, std::size_t width = 0);

/// Does the same for the beginning and the end of a text of more than `most` bytes, with a line between them that
/// counts the omitted bytes and says `how` to see them.
std::string framed_ends(std::string_view head, std::string_view text, std::size_t width, std::size_t most,
                        std::string_view how);

/// Returns the first `most` bytes of a text, followed by the total number if that is not all.
std::string beginning(std::string_view text, std::size_t most);

/// Note below a text that has_hidden() (mcp/redact/hidden_text.hpp).
inline constexpr std::string_view hidden_note =
    "  it has characters that are not seen; they are shown as \\u{…} and are sent as they are";

}  // namespace mcpbx::cli::terminals

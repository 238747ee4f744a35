// Characters that nobody sees: what is done about them in foreign text, for models and for people. Taken out are
// controls, bidi marks, zero-width characters, tags, variation selectors and fillers, and what is no UTF-8. Kept, one
// at a time, are those that words and emoji are written with: U+200C and U+200D behind letters of the scripts that join
// (Arabic, Indic and their like), U+200D between two emoji, U+FE0E and U+FE0F behind one.
#pragma once
#include "mcp/json/raw_json.hpp"

#include <string>
#include <string_view>

namespace mcpbx {

/// `text` for a terminal or a model: without such characters, and without invalid UTF-8; tab and newline stay when
/// `keep_lines`.
std::string printable(std::string_view text, bool keep_lines = false);

/// `text` with every such character, also those that printable() keeps, as `\u{200b}`: for whoever decides by it. What
/// is no UTF-8 becomes U+FFFD.
std::string visible(std::string_view text, bool keep_lines = false);
/// Whether visible() has anything to show of it.
bool has_hidden(std::string_view text, bool keep_lines = false);

/// JSON for a terminal: outside of ASCII, what is not seen becomes \u escapes, so that it means the same.
std::string visible_json(std::string_view json);

/// `value` as models are shown it: each string in it, names of members too, as printable() with its lines (and "\r\n").
/// The same bytes when there is nothing to take out.
raw_json without_hidden(const raw_json& value);

}  // namespace mcpbx

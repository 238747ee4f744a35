// Handles invisible characters in foreign text, for models and for people. Invisible are controls, bidi marks,
// zero-width characters, tags, variation selectors, fillers and invalid UTF-8. Single characters that belong to words
// and emoji are kept: U+200C and U+200D behind letters of joining scripts (Arabic, Indic and the like), U+200D between
// two emoji, U+FE0E and U+FE0F behind one.
#pragma once
#include "mcp/json/raw_json.hpp"

#include <string>
#include <string_view>

namespace mcpbx::redact {

/// Removes invisible characters and invalid UTF-8, for a terminal or a model. Keeps tab and newline if `keep_lines`.
std::string printable(std::string_view text, bool keep_lines = false);

/// Shows every invisible character, including those that printable() keeps, as `\u{200b}`, for a person who decides by
/// the text. Invalid UTF-8 becomes U+FFFD.
std::string visible(std::string_view text, bool keep_lines = false);
/// Returns true if visible() would change the text.
bool has_hidden(std::string_view text, bool keep_lines = false);

/// Returns JSON for a terminal: invisible characters outside ASCII become \u escapes, which mean the same.
std::string visible_json(std::string_view json);

/// Returns `value` for models: applies printable() with line breaks (also "\r\n") to each string and member name.
/// Returns the same bytes if there is nothing to remove.
json::raw_json without_hidden(const json::raw_json& value);

}  // namespace mcpbx::redact

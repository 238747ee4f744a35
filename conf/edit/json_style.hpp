// Reads the layout of a JSONC document, and lays new values out in the same manner.
#pragma once
#include "conf/edit/json_spans.hpp"

#include <cstddef>
#include <string>
#include <string_view>

namespace mcpbx::conf::edit {

struct json_style {
  std::string indent = "  ";   ///< of one level
  std::string newline = "\n";  ///< or "\r\n"
};

/// Returns the layout of a document: its first line end inside the value, and the indentation of the first member or
/// element that stands deeper than the line of its bracket. Two blanks and a line feed where it shows none.
json_style style_of(std::string_view text, const json_span& root);

/// Returns the blanks and tabs at the start of the line of position `at`.
std::string_view margin_of(std::string_view text, std::size_t at);
/// Returns true if only blanks stand before `at` on its line.
bool first_on_line(std::string_view text, std::size_t at);

/// Returns a JSON value laid out over lines, which stand below `margin`. Tokens stay as they are, comments are dropped.
/// Lists of short scalars stay on one line. `json` must have passed parse_jsonc() without an error.
std::string laid_out(std::string_view json, const json_style& style, std::string_view margin);
/// Returns a JSON value on one line.
std::string on_one_line(std::string_view json);

}  // namespace mcpbx::conf::edit

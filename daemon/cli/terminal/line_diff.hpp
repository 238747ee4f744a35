// Compares two texts line by line, and writes JSON as lines that can be compared.
#pragma once
#include "mcp/json/raw_json.hpp"

#include <string>
#include <vector>

namespace mcpbx::cli::terminals {

/// One line of a comparison.
struct diff_line {
  char mark;  ///< '-': only before, '+': only after, ' ': in both
  std::string text;
  bool operator==(const diff_line&) const = default;
};

/// Returns the lines of both texts in order, with as many as possible in both. Of a change the lines before come first.
/// All differing lines count as changed if there are more than a few thousand.
std::vector<diff_line> line_diff(const std::vector<std::string>& before, const std::vector<std::string>& after);

/// Returns the lines of a text; of other JSON one line for each element, with an indent of two blanks a level. Tokens
/// stay as they are. An absent value has no lines.
std::vector<std::string> comparable_lines(const json::raw_json& value);

}  // namespace mcpbx::cli::terminals

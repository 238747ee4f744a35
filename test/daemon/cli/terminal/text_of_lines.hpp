// The text of styled lines, without their styles.
#pragma once
#include "daemon/cli/terminal/terminal.hpp"

#include <string>
#include <vector>

namespace mcpbx::test {

/// Returns the lines, each with a line break.
inline std::string text_of(const std::vector<cli::terminals::styled>& lines) {
  std::string all;
  for (const auto& line : lines) {
    for (const auto& piece : line.pieces()) all += piece.text;
    all += '\n';
  }
  return all;
}

}  // namespace mcpbx::test

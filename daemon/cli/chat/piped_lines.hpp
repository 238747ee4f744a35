// Reads lines from standard input that is no terminal.
#pragma once
#include "daemon/cli/terminal/read_line.hpp"

#include <expected>
#include <string>

namespace mcpbx::cli::chat {

class piped_lines {
 public:
  /// Returns the next line without its end. A line longer than an input may be is given in parts of that length, of
  /// which the first is too long for one.
  std::expected<std::string, terminals::unanswered> next();

 private:
  std::string held_;
  std::size_t looked_at_ = 0;  // bytes of held_ without a line break
  bool ended_ = false;
};

}  // namespace mcpbx::cli::chat

// Reads inputs at the terminal with editing and history: libedit where the terminal can, else plain lines.
#pragma once
#include "daemon/cli/terminal/read_line.hpp"
#include "daemon/cli/terminal/terminal.hpp"

#include <expected>
#include <memory>
#include <span>
#include <string>
#include <string_view>

namespace mcpbx::cli::chat {

class line_editor {
 public:
  /// `screen` must outlive it. `completed` are words that Tab completes at the beginning of a line. Interrupts must be
  /// caught already (catch_interrupts()). Sets the locale of characters. Without an editor, because the terminal lacks
  /// what it needs, lines are read as the terminal gives them.
  line_editor(terminals::terminal& screen, std::span<const std::string_view> completed);
  ~line_editor();
  line_editor(const line_editor&) = delete;
  line_editor& operator=(const line_editor&) = delete;

  /// Adds an input to those that the arrow keys bring back.
  void remember(std::string_view input);
  /// Shows the prompt and reads a line without its end. A pasted text is one line with line breaks in it, of at most
  /// `most_pasted` characters.
  std::expected<std::string, terminals::unanswered> read(std::string_view prompt);
  static constexpr std::size_t most_pasted = 1u << 20;

 private:
  class impl;
  terminals::terminal& screen_;
  std::unique_ptr<impl> impl_;  // null: plain lines
};

}  // namespace mcpbx::cli::chat

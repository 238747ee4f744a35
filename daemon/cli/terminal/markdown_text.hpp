// Styles Markdown for a terminal while it comes, piece by piece. No I/O.
#pragma once
#include "daemon/cli/terminal/terminal.hpp"

#include <cstddef>
#include <string>
#include <string_view>

namespace mcpbx::cli::terminals {

/// Gives headings, strong and emphasized words, code, quotes and markers of lists a style, as far as one line decides
/// (CommonMark 0.31). The texts of all pieces, joined, are the input. They do not depend on how the input was cut.
class markdown_text {
 public:
  /// Takes more of the text and returns what is decided so far. Keeps back at most `longest_run` + 16 bytes.
  styled feed(std::string_view text);
  /// Returns what was kept back. To be called before other output, and at the end.
  styled flush();
  /// Ends the text: returns what was kept back and begins anew.
  styled finish();

  static constexpr std::size_t longest_run = 64;  ///< a longer run of marks is text

 private:
  enum class where : unsigned char { line_start, heading, text, fence_line, code_start, code };
  void read(styled& out, bool all);
  std::size_t at_line_start(std::string_view rest, styled& out, bool all);
  std::size_t in_text(std::string_view rest, styled& out, bool all);
  std::size_t in_code(std::string_view rest, styled& out, bool all);
  std::size_t stars(std::string_view rest, styled& out, bool all);
  void put(styled& out, look how, std::string_view text);
  void end_line();
  look usual() const;

  std::string held_;
  where at_ = where::line_start;
  char before_ = '\n';             // the byte before held_
  char fence_ = 0;                 // mark of the open code block, or 0
  std::size_t fence_run_ = 0;      // number of its marks
  std::size_t span_run_ = 0;       // number of backticks of the open span of code, or 0
  char strong_ = 0, slanted_ = 0;  // marks that opened them, or 0
};

}  // namespace mcpbx::cli::terminals

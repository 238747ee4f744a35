// Tables that fit a terminal: no line is wider than the terminal, so that the terminal breaks none.
#pragma once
#include "daemon/cli/terminal/terminal.hpp"

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

namespace mcpbx::cli::terminals {

/// Returns the columns that a terminal needs for `text`: two for wide characters, none for combining ones.
std::size_t display_columns(std::string_view text);

/// Returns a text of at most `width` columns, with `mark` at its end if it was cut, which needs fewer.
std::string cut_columns(const std::string& text, std::size_t width, std::string_view mark = "…");

/// Breaks `text` between words into lines of at most `width` columns, and words that are longer anywhere. Keeps its
/// line breaks. `width` 0 breaks at those only. Never empty.
std::vector<std::string> wrapped(std::string_view text, std::size_t width);

/// A table with columns that may be left out, and a note below each row.
class fitted_table {
 public:
  struct cell {
    std::string text;
    look how = look::plain;
    cell(std::string t, look h = look::plain) : text(std::move(t)), how(h) {}
    cell(const char* t) : text(t) {}
  };
  struct column {
    std::string title;
    int rank = 0;  ///< columns of the highest rank are left out first; 0: never
  };
  struct row {
    std::vector<cell> cells;
    cell note = "";  ///< stands below the row, indented, if not empty
  };

  /// `titles` are the heads of the columns. If all are empty, there is no head line.
  explicit fitted_table(std::vector<column> titles) : columns_(std::move(titles)) {}
  void add(row r) { rows_.push_back(std::move(r)); }
  bool empty() const noexcept { return rows_.empty(); }
  /// Breaks cells of the last column into lines, or puts them below their rows where the room is too small. Other
  /// cells, and those of the last column without this, are cut where the table is too wide.
  void wrap_last() { wraps_ = true; }

  /// Returns the lines for a terminal of `width` columns; 0: as wide as the cells are. Cells are made printable, and
  /// `mark` ends those that are cut.
  std::vector<styled> lines(std::size_t width, std::string_view mark = "…") const;

 private:
  std::vector<column> columns_;
  std::vector<row> rows_;
  bool wraps_ = false;
};

/// Writes the table to stdout, as wide as its terminal.
void show(terminal& screen, const fitted_table& table);

}  // namespace mcpbx::cli::terminals

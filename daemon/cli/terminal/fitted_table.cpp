// Chooses the columns, then makes the lines. Widths are those of cleaned text.
#include "daemon/cli/terminal/fitted_table.hpp"

#include "mcp/redact/hidden_text.hpp"
#include "mcp/support/utf8.hpp"

#include <algorithm>
#include <array>
#include <numeric>
#include <utility>

namespace mcpbx::cli::terminals {
namespace {

constexpr std::size_t gap = 2, indent = 2, narrowest_column = 8, least_text = 24;

struct code_range {
  char32_t first, last;
};

std::size_t code_columns(char32_t c) {
  static constexpr std::array combining{code_range{0x300, 0x36F}, code_range{0x200B, 0x200F},
                                        code_range{0xFE00, 0xFE0F}};
  static constexpr std::array wide{
      code_range{0x1100, 0x115F},   code_range{0x2E80, 0xA4CF},  code_range{0xAC00, 0xD7A3}, code_range{0xF900, 0xFAFF},
      code_range{0xFE30, 0xFE6F},   code_range{0xFF00, 0xFF60},  code_range{0xFFE0, 0xFFE6}, code_range{0x2300, 0x2BFF},
      code_range{0x1F000, 0x1FAFF}, code_range{0x20000, 0x3FFFD}};
  const auto in = [c](const auto& ranges) {
    return std::ranges::any_of(ranges, [c](code_range r) { return c >= r.first && c <= r.last; });
  };
  if (in(combining)) return 0;
  return in(wide) ? 2 : 1;
}

/// Returns the number of bytes at the beginning of `text` that fit into `width` columns; at least one character.
std::size_t fitting_bytes(std::string_view text, std::size_t width) {
  std::size_t used = 0;
  const char* const end = text.data() + text.size();
  for (const char* p = text.data(); p != end;) {
    const auto s = utf8::next(p, end);
    used += code_columns(s.what == utf8::status::valid ? utf8::decode(p, s.size) : U'?');
    if (used > width && p != text.data()) return static_cast<std::size_t>(p - text.data());
    p += s.size;
  }
  return text.size();
}

void wrap_line(std::vector<std::string>& out, std::string_view line, std::size_t width) {
  while (width != 0) {
    const auto room = fitting_bytes(line, width);
    if (room == line.size()) break;
    // The blank behind the last word may be one column too far.
    auto end = line[room] == ' ' ? room : line.substr(0, room).rfind(' ');
    if (end == std::string_view::npos || line.substr(0, end).find_first_not_of(' ') == std::string_view::npos)
      end = room;
    out.emplace_back(line.substr(0, end));
    line.remove_prefix(std::min(line.find_first_not_of(' ', end), line.size()));
    if (line.empty()) return;
  }
  out.emplace_back(line);
}

/// Returns text without characters that move the cursor. A tab could begin a line that looks like one of ours.
std::string without_tabs(std::string text) {
  std::ranges::replace(text, '\t', ' ');
  return text;
}

/// Line under construction; blanks between cells are written only if a cell follows.
class line_builder {
 public:
  void add(const fitted_table::cell& c, std::size_t width) {
    if (!c.text.empty()) {
      line_ = line_ + std::string(blanks_, ' ') + styled(c.how, c.text);
      blanks_ = 0;
    }
    const auto used = display_columns(c.text);
    blanks_ += gap + (used < width ? width - used : 0);
  }
  void skip(std::size_t columns) { blanks_ += columns; }
  styled take() { return std::exchange(line_, styled("")); }

 private:
  styled line_ = "";
  std::size_t blanks_ = 0;
};

}  // namespace

std::size_t display_columns(std::string_view text) {
  std::size_t all = 0;
  const char* const end = text.data() + text.size();
  for (const char* p = text.data(); p != end;) {
    const auto s = utf8::next(p, end);
    all += code_columns(s.what == utf8::status::valid ? utf8::decode(p, s.size) : U'?');
    p += s.size;
  }
  return all;
}

std::string cut_columns(const std::string& text, std::size_t width, std::string_view mark) {
  if (display_columns(text) <= width) return text;
  const auto room = display_columns(mark);
  if (room >= width) return text.substr(0, fitting_bytes(text, width));
  return text.substr(0, fitting_bytes(text, width - room)).append(mark);
}

std::vector<std::string> wrapped(std::string_view text, std::size_t width) {
  std::vector<std::string> out;
  for (;;) {
    const auto end = text.find('\n');
    wrap_line(out, text.substr(0, end), width);
    if (end == std::string_view::npos) return out;
    text.remove_prefix(end + 1);
  }
}

std::vector<styled> fitted_table::lines(std::size_t width, std::string_view mark) const {
  const std::size_t last = columns_.size() - 1;
  std::vector<row> clean = rows_;
  for (auto& r : clean) {
    r.cells.resize(columns_.size(), "");
    for (std::size_t i = 0; i <= last; ++i)
      r.cells[i].text = without_tabs(redact::printable(r.cells[i].text, wraps_ && i == last));
    r.note.text = without_tabs(redact::printable(r.note.text, true));
  }
  std::vector<std::size_t> widths;
  for (std::size_t i = 0; i <= last; ++i) {
    widths.push_back(display_columns(columns_[i].title));
    for (const auto& r : clean) {
      // The last column needs no padding, so that its lines may have any width.
      for (const auto& line : wrapped(r.cells[i].text, 0)) widths[i] = std::max(widths[i], display_columns(line));
    }
  }
  std::vector<std::size_t> shown(columns_.size());
  std::iota(shown.begin(), shown.end(), 0);
  const auto total = [&] {
    std::size_t all = (shown.size() - 1) * gap;
    for (const auto i : shown) all += widths[i];
    return all;
  };
  // 1. Leave out columns. 2. Let the last column wrap, or move below the rows. 3. Cut the widest columns.
  while (width != 0 && total() > width) {
    const auto least = std::ranges::max_element(shown, {}, [&](std::size_t i) { return columns_[i].rank; });
    if (columns_[*least].rank == 0) break;
    shown.erase(least);
  }
  bool below = false;
  if (width != 0 && total() > width) {
    const auto before_last = total() - widths[last];
    if (wraps_ && shown.size() > 1 && before_last + least_text > width) {
      below = true;
      shown.pop_back();
    } else if (wraps_) {
      widths[last] = width - std::min(width - 1, before_last);
    }
  }
  while (width != 0 && total() > width) {
    const auto widest = *std::ranges::max_element(shown, {}, [&](std::size_t i) { return widths[i]; });
    if (widths[widest] <= narrowest_column) break;
    --widths[widest];
  }

  std::vector<styled> out;
  line_builder line;
  if (std::ranges::any_of(columns_, [](const column& c) { return !c.title.empty(); })) {
    for (const auto i : shown) line.add({columns_[i].title, look::bold}, widths[i]);
    out.push_back(line.take());
    line = {};
  }
  const auto add_below = [&](const cell& c, std::size_t from) {
    if (c.text.empty()) return;
    for (auto& text : wrapped(c.text, width > from + narrowest_column ? width - from : 0))
      out.push_back(std::string(from, ' ') + styled(c.how, std::move(text)));
  };
  for (const auto& r : clean) {
    std::vector<std::string> rest;
    for (const auto i : shown) {
      cell c = r.cells[i];
      if (wraps_ && i == last) {
        rest = wrapped(c.text, width == 0 ? 0 : widths[i]);
        c.text = rest.front();
      } else if (width != 0) {
        c.text = cut_columns(c.text, widths[i], mark);
      }
      line.add(c, widths[i]);
    }
    out.push_back(line.take());
    line = {};
    const auto before_last = total() - widths[last];
    for (std::size_t n = 1; n < rest.size(); ++n)
      out.push_back(std::string(rest[n].empty() ? 0 : before_last, ' ') + styled(r.cells[last].how, rest[n]));
    if (below) add_below(r.cells[last], 2 * indent);
    add_below(r.note, indent);
  }
  return out;
}

void show(terminal& screen, const fitted_table& table) {
  for (const auto& line : table.lines(screen.out_width(), screen.cut_mark())) screen.out_line(line);
}

}  // namespace mcpbx::cli::terminals

// Breaks and escapes foreign text. Widths are estimated from above: a line broken too early is harmless, but a line
// that the terminal breaks could look like ours.
#include "daemon/cli/terminal/foreign_text.hpp"

#include "mcp/redact/hidden_text.hpp"
#include "mcp/support/text.hpp"
#include "mcp/support/utf8.hpp"

#include <algorithm>

namespace mcpbx::cli::terminals {
namespace {

constexpr std::string_view rail = "  | ";
constexpr std::size_t tab_columns = 8, narrowest = 20;

std::size_t columns_of(char32_t c) {
  if (c == U'\t') return tab_columns;
  return c < 0x1100 ? 1 : 2;
}

std::size_t columns_of(std::string_view text) {
  std::size_t all = 0;
  for (const char* p = text.data(); p != text.data() + text.size();) {
    const auto s = utf8::next(p, text.data() + text.size());
    all += columns_of(s.what == utf8::status::valid ? utf8::decode(p, s.size) : U'?');
    p += s.size;
  }
  return all;
}

/// Appends visible text that begins `used` columns into its line.
void append_lines(std::string& out, std::string_view text, std::size_t used, std::size_t width) {
  const auto next_line = [&] {
    out += '\n';
    out += rail;
    used = rail.size();
  };
  const char* p = text.data();
  const char* const end = p + text.size();
  while (p != end) {
    const auto s = utf8::next(p, end);
    const char32_t c = s.what == utf8::status::valid ? utf8::decode(p, s.size) : U'?';
    if (c == U'\n') {
      next_line();
    } else {
      if (width != 0 && used + columns_of(c) > width) next_line();
      out.append(p, s.size);
      used += columns_of(c);
    }
    p += s.size;
  }
}

std::size_t bounded(std::size_t width) {
  return width == 0 ? 0 : std::max(width, narrowest);
}

}  // namespace

std::string quoted_name(std::string_view name) {
  std::string out = "\"";
  char before = 'x';
  for (const char c : name) {
    if (c == ' ' && before == ' ') {
      out += "\\u{20}";
      continue;
    }
    if (c == '"' || c == '\\') out += '\\';
    out += c;
    before = c;
  }
  return redact::visible(out) + "\"";
}

std::string framed(std::string_view head, std::string_view text, std::size_t width) {
  std::string out(head);
  append_lines(out, redact::visible(text, true), columns_of(head), bounded(width));
  return out + "\n";
}

std::string framed_ends(std::string_view head, std::string_view text, std::size_t width, std::size_t most,
                        std::string_view how) {
  if (text.size() <= most) return framed(head, text, width);
  const auto first = cut_utf8(text, most - most / 3), last = tail_utf8(text, most / 3);
  std::string out = framed(head, first, width);
  out += "  … " + counted(text.size() - first.size() - last.size(), "byte") + " of " + std::to_string(text.size()) +
         " left out here; " + std::string(how) + " …\n";
  return out + framed(rail, last, width);
}

std::string beginning(std::string_view text, std::size_t most) {
  if (text.size() <= most) return std::string(text);
  return std::string(cut_utf8(text, most)) + "… (" + std::to_string(text.size()) + " bytes)";
}

}  // namespace mcpbx::cli::terminals

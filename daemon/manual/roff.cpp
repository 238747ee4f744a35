// man(7) and groff(7) describe the macros and escapes. Characters outside ASCII are written as \[uXXXX], which every
// device and every locale takes.
#include "daemon/manual/roff.hpp"

#include "mcp/support/text.hpp"

#include <algorithm>
#include <cctype>
#include <cstdint>
#include <vector>

namespace mcpbx::manual {
namespace {

// Reads a character of UTF-8 at `i` and moves behind it. The texts are ours and valid.
std::uint32_t next_character(std::string_view text, std::size_t& i) {
  const auto first = static_cast<unsigned char>(text[i++]);
  const int more = first < 0xC0 ? 0 : first < 0xE0 ? 1 : first < 0xF0 ? 2 : 3;
  std::uint32_t c = more == 0 ? first : first & (0x3Fu >> more);
  for (int k = 0; k < more && i < text.size(); ++k) c = c << 6 | (static_cast<unsigned char>(text[i++]) & 0x3Fu);
  return c;
}

std::vector<std::string_view> lines_of(std::string_view text) {
  std::vector<std::string_view> lines;
  while (!text.empty()) {
    const auto end = std::min(text.find('\n'), text.size());
    lines.push_back(text.substr(0, end));
    text.remove_prefix(std::min(end + 1, text.size()));
  }
  return lines;
}

// Puts a line into the page, so that its beginning is no request.
std::string safe_start(std::string_view roff) {
  std::string out;
  for (const auto line : lines_of(roff)) {
    if (line.starts_with('.') || line.starts_with('\'')) out += "\\&";
    out.append(line) += '\n';
  }
  return out;
}

std::string quoted_argument(std::string_view text) {
  std::string out = "\"";
  for (const char c : roff_text(text)) out += c == '"' ? std::string("\\(dq") : std::string(1, c);
  return out + "\"";
}

bool is_title(std::string_view line) {
  return line.size() < 40 && line.ends_with(':') && !line.empty() && std::isupper(static_cast<unsigned char>(line[0]));
}

}  // namespace

std::string roff_text(std::string_view text) {
  std::string out;
  for (std::size_t i = 0; i < text.size();) {
    const auto c = next_character(text, i);
    if (c == '\\')
      out += "\\(rs";
    else if (c == '-')
      out += "\\-";
    else if (c == '\'')
      out += "\\(aq";
    else if (c == '`')
      out += "\\(ga";
    else if (c == '^')
      out += "\\(ha";
    else if (c == '~')
      out += "\\(ti";
    else if (c == 0x2026)
      out += "...";
    else if (c < 0x80)
      out += static_cast<char>(c);
    else {
      auto digits = hex(c, 6);
      std::ranges::transform(digits, digits.begin(),
                             [](unsigned char d) { return static_cast<char>(std::toupper(d)); });
      const auto zeros = std::min<std::size_t>(digits.find_first_not_of('0'), 2);
      out += "\\[u" + digits.substr(zeros) + "]";
    }
  }
  return out;
}

std::string roff_bold(std::string_view text) {
  return text.empty() ? "" : "\\fB" + roff_text(text) + "\\fR";
}

std::string roff_italic(std::string_view text) {
  return text.empty() ? "" : "\\fI" + roff_text(text) + "\\fR";
}

std::string roff_of_markdown(std::string_view text) {
  std::string out;
  while (!text.empty()) {
    const auto at = text.find_first_of("`*[");
    out += roff_text(text.substr(0, at));
    if (at == text.npos) break;
    text.remove_prefix(at);
    const std::string_view mark = text.starts_with("**") ? "**" : text.substr(0, 1);
    const std::string_view closing = mark == "[" ? "](" : mark;
    const auto end = mark == "*" ? text.npos : text.find(closing, mark.size());
    if (end == text.npos) {
      out += roff_text(mark);
      text.remove_prefix(mark.size());
      continue;
    }
    const auto inside = text.substr(mark.size(), end - mark.size());
    if (mark == "[") {
      const auto behind = text.find(')', end);
      out += roff_of_markdown(inside);
      text.remove_prefix(behind == text.npos ? text.size() : behind + 1);
    } else {
      out += mark == "**" ? "\\fB" + roff_of_markdown(inside) + "\\fR" : roff_bold(inside);
      text.remove_prefix(end + closing.size());
    }
  }
  return out;
}

roff_page::roff_page(std::string_view name, int section, std::string_view version, std::string_view about) {
  std::string title(name);
  std::ranges::transform(title, title.begin(), [](unsigned char c) { return static_cast<char>(std::toupper(c)); });
  out_ = ".TH " + quoted_argument(title) + " " + std::to_string(section) + " \"\" " + quoted_argument(version) + " " +
         quoted_argument(section == 1   ? "User Commands"
                         : section == 5 ? "File Formats"
                                        : "System Administration") +
         "\n.nh\n.ad l\n";
  this->section("Name");
  out_ += roff_text(name) + " \\- " + roff_text(about) + "\n";
}

void roff_page::section(std::string_view title) {
  std::string upper(title);
  std::ranges::transform(upper, upper.begin(), [](unsigned char c) { return static_cast<char>(std::toupper(c)); });
  out_ += ".SH " + quoted_argument(upper) + "\n";
}

void roff_page::subsection(std::string_view title) {
  out_ += ".SS " + quoted_argument(title) + "\n";
}

void roff_page::paragraph(std::string_view roff) {
  if (!roff.empty()) out_ += ".PP\n" + safe_start(roff);
}

void roff_page::tagged(std::string_view tag, std::string_view roff) {
  out_ += ".TP\n" + safe_start(tag) + (roff.empty() ? "\\&\n" : safe_start(roff));
}

void roff_page::verbatim(std::string_view lines) {
  out_ += ".PP\n.RS 4\n.nf\n";
  for (const auto line : lines_of(lines)) out_ += safe_start(line.empty() ? "\\&" : roff_text(line));
  out_ += ".fi\n.RE\n";
}

void roff_page::help_text(std::string_view text) {
  std::string block;
  bool indented = false;
  const auto flush = [&] {
    if (indented)
      verbatim(block);
    else
      paragraph(roff_text(block));
    block.clear();
  };
  for (const auto line : lines_of(text)) {
    if (line.empty() || line.starts_with("  ") != indented || is_title(line)) flush();
    indented = line.starts_with("  ");
    if (line.empty()) continue;
    if (is_title(line)) {
      paragraph(roff_bold(line));
      continue;
    }
    block.append(indented ? line.substr(2) : line) += '\n';
  }
  flush();
}

}  // namespace mcpbx::manual

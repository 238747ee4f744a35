// Writing of manual pages with the macros of man(7).
#pragma once
#include <string>
#include <string_view>

namespace mcpbx::manual {

/// Escapes text, so that it is printed as it stands: no request, no escape, plain hyphens.
std::string roff_text(std::string_view text);
/// Returns it in bold or italics.
std::string roff_bold(std::string_view text);
std::string roff_italic(std::string_view text);
/// Escapes a line of Markdown: `code` and **strong** become bold, of a link its text is left.
std::string roff_of_markdown(std::string_view text);

class roff_page {
 public:
  /// Begins the page NAME(section); `about` is a clause, `version` such as "mcpbx 0.1.0".
  roff_page(std::string_view name, int section, std::string_view version, std::string_view about);

  void section(std::string_view title);
  void subsection(std::string_view title);
  /// Adds a paragraph; `roff` is escaped already.
  void paragraph(std::string_view roff);
  /// Adds an indented entry below a tag; both are escaped already.
  void tagged(std::string_view tag, std::string_view roff);
  /// Adds lines as they stand.
  void verbatim(std::string_view lines);
  /// Adds the text of a help page: blocks whose lines are indented stand as they are, others are paragraphs, and a line
  /// such as "Examples:" above a block is its title.
  void help_text(std::string_view text);

  std::string str() const { return out_; }

 private:
  std::string out_;
};

}  // namespace mcpbx::manual

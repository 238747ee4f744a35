// Markdown for a terminal: each character stays, and the styles do not depend on how the text was cut.
#include "daemon/cli/terminal/markdown_text.hpp"

#include <doctest/doctest.h>

#include <ctime>
#include <random>
#include <string>
#include <vector>

using namespace mcpbx::cli::terminals;

namespace {

// Writes pieces as `{bold:text}`, plain ones as they are.
std::string shown(const styled& text) {
  constexpr const char* names[] = {"", "bold", "dim", "red", "green", "yellow", "cyan", "italic"};
  styled joined;
  for (const auto& p : text.pieces()) joined.add(p.how, p.text);
  std::string out;
  for (const auto& p : joined.pieces())
    out += p.how == look::plain ? p.text : "{" + std::string(names[static_cast<int>(p.how)]) + ":" + p.text + "}";
  return out;
}

styled styled_in_pieces(const std::vector<std::string>& pieces) {
  markdown_text m;
  styled all;
  for (const auto& p : pieces) all = all + m.feed(p);
  return all + m.finish();
}

std::string shown_of(const std::string& text) {
  return shown(styled_in_pieces({text}));
}

std::string plain_of(const styled& all) {
  std::string text;
  for (const auto& p : all.pieces()) text += p.text;
  return text;
}

const std::vector<std::string>& samples() {
  static const std::vector<std::string> all{
      "# Heading\ntext\n",
      "#no heading\n####### seven\n",
      "a **strong** and *slanted* word, and ***both***\n",
      "2 * 3 * 4 and a ** b ** c\n",
      "snake_case_name and _slanted_ and __init__\n",
      "`code *with* stars` and ``a ` b``\n",
      "an open `span\nnext **line\nlast\n",
      "- one\n* two\n+ three\n10. ten\n3) three\n-no list\n1.no list\n",
      "> quoted **strong**\n",
      "```cpp\nint *a = **b; // `x`\n```\nafter *it*\n",
      "~~~\n```\n~~~\nafter\n",
      "````\n```\ncode\n````  \nafter\n",
      "| a | b |\n|---|---|\n| *x* | 2 |\n",
      "\\*no\\* \\` \\\\ a\\\n",
      "---\n***\n",
      "äöü **ß** 日本 *語*\n",
      "no end of line **",
      "```\nno end of code",
      std::string(200, '*') + std::string(200, '`') + "\n" + std::string(300, '#') + " \n",
      "\x1b[31mred\x1b[0m **\x1b]0;title\x07**\n",
      "1234567890123. no list\n12",
      "",
      "\r\n```\r\ncode\r\n```\r\n*a*\r\n"};
  return all;
}

}  // namespace

TEST_CASE("markdown: headings, strong and slanted words, code and list marks have styles") {
  CHECK(shown_of("# Heading\ntext\n") == "{dim:#}{bold: Heading}\ntext\n");
  CHECK(shown_of("a **strong** b *slanted* c\n") ==
        "a {dim:**}{bold:strong}{dim:**} b {dim:*}{italic:slanted}{dim:*} c\n");
  CHECK(shown_of("__init__ of snake_case_name\n") == "{dim:__}{bold:init}{dim:__} of snake_case_name\n");
  CHECK(shown_of("see `a *b*` now\n") == "see {dim:`}{cyan:a *b*}{dim:`} now\n");
  CHECK(shown_of("``a ` b``\n") == "{dim:``}{cyan:a ` b}{dim:``}\n");
  CHECK(shown_of("- one\n10. ten\n") == "{yellow:-} one\n{yellow:10.} ten\n");
  CHECK(shown_of("> said\n") == "{dim:>} said\n");
}

TEST_CASE("markdown: a block of code is not looked into and ends at a line of its own marks") {
  CHECK(shown_of("```cpp\nint *a = **b;\n```\n*c*\n") ==
        "{dim:```cpp}\n{cyan:int *a = **b;}\n{dim:```}\n{dim:*}{italic:c}{dim:*}\n");
  CHECK(shown_of("~~~\n```\n~~~\nt\n") == "{dim:~~~}\n{cyan:```}\n{dim:~~~}\nt\n");
  CHECK(shown_of("````\n```\n````\nt\n") == "{dim:````}\n{cyan:```}\n{dim:````}\nt\n");
  CHECK(shown_of("```\n```no end\n") == "{dim:```}\n{cyan:```no end}\n");
}

TEST_CASE("markdown: tables, sums and escaped marks stay plain") {
  CHECK(shown_of("| a | b |\n|---|---|\n| 1 | 2 |\n") == "| a | b |\n|---|---|\n| 1 | 2 |\n");
  CHECK(shown_of("2 * 3 * 4 ** 5\n") == "2 * 3 * 4 ** 5\n");
  CHECK(shown_of("\\*no\\* \\_no\\_\n") == "\\*no\\* \\_no\\_\n");
  CHECK(shown_of("#hashtag\n") == "#hashtag\n");
  CHECK(shown_of("an `open span\nnext\n") == "an {dim:`}{cyan:open span}\nnext\n");
}

TEST_CASE("markdown: no character is lost or moved, whole, byte by byte and cut anywhere") {
  std::mt19937 random(7);
  for (const auto& text : samples()) {
    CAPTURE(text);
    const auto whole = shown_of(text);
    std::vector<std::string> bytes;
    for (const char c : text) bytes.emplace_back(1, c);
    const auto one_by_one = styled_in_pieces(bytes);
    CHECK(plain_of(one_by_one) == text);
    CHECK(shown(one_by_one) == whole);
    for (int i = 0; i < 20; ++i) {
      std::vector<std::string> pieces;
      for (std::size_t at = 0; at < text.size();) {
        const auto n = 1 + random() % 7;
        pieces.push_back(text.substr(at, n));
        at += n;
      }
      CHECK(shown(styled_in_pieces(pieces)) == whole);
    }
  }
}

TEST_CASE("markdown: text made of nothing but marks is whole, too") {
  std::mt19937 random(11);
  constexpr std::string_view marks = "*_`~#>-+\\|1.) \t\nab\xc3\xa4";
  for (int i = 0; i < 500; ++i) {
    std::string text;
    for (auto n = random() % 60; n > 0; --n) text += marks[random() % marks.size()];
    markdown_text m;
    std::string out;
    for (std::size_t at = 0; at < text.size();) {
      const auto n = 1 + random() % 5;
      out += plain_of(m.feed(text.substr(at, n)));
      if (random() % 9 == 0) out += plain_of(m.flush());
      at += n;
    }
    out += plain_of(m.finish());
    CHECK(out == text);
  }
}

TEST_CASE("markdown: little is kept back, and flush gives all of it") {
  markdown_text m;
  std::size_t given = 0, taken = 0;
  const std::vector<std::string> pieces{"a **", "***", "`", std::string(1000, '`'), "x", "\n##"};
  for (const auto& piece : pieces) {
    given += piece.size();
    taken += plain_of(m.feed(piece)).size();
    CHECK(given - taken <= markdown_text::longest_run + 16);
  }
  CHECK(taken + plain_of(m.flush()).size() == given);
  CHECK(m.flush().empty());
}

TEST_CASE("markdown: a long text of nothing but marks or line breaks is read once, not once for each of them") {
  for (const char* mark : {"\n", "*", "`", "#", " ", "_*", "\\", "1", "- "}) {
    std::string text;
    while (text.size() < 256u << 10) text += mark;
    const auto before = std::clock();
    markdown_text m;
    const auto size = plain_of(m.feed(text)).size() + plain_of(m.finish()).size();
    CHECK(size == text.size());
    // Reading all that follows behind each mark takes more than a minute.
    CHECK_MESSAGE((std::clock() - before) / CLOCKS_PER_SEC < 10, mark);
  }
}

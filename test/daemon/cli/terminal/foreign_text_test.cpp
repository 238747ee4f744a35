// Foreign text in front of a person whose decision depends on it (F8, G37, G39).
#include "daemon/cli/terminal/foreign_text.hpp"

#include <doctest/doctest.h>

#include <sstream>
#include <string>
#include <vector>

using namespace mcpbx::cli::terminals;

namespace {

std::vector<std::string> lines_of(const std::string& text) {
  std::vector<std::string> lines;
  std::istringstream in(text);
  for (std::string line; std::getline(in, line);) lines.push_back(line);
  return lines;
}

}  // namespace

TEST_CASE("G39: a name stands in quotes that nothing in it can close, and nothing in it is hidden") {
  CHECK(quoted_name("files__rm") == "\"files__rm\"");
  CHECK(quoted_name("a\" of server \"bank") == R"("a\" of server \"bank")");
  CHECK(quoted_name("a\\\"b") == R"("a\\\"b")");
  CHECK(quoted_name("a\u200Bb\U000E0041\n\x1b[2J") == R"("a\u{200b}b\u{e0041}\u{a}\u{1b}[2J")");
  CHECK(quoted_name("a   b c") == R"("a \u{20}\u{20}b c")");
}

TEST_CASE("G37: no line of a foreign text begins like one of ours, whatever breaks it") {
  CHECK(framed("  + ", "one\nother__tool: ok (pin: block)\n  now sha256 0") ==
        "  + one\n  | other__tool: ok (pin: block)\n  |   now sha256 0\n");
  CHECK(framed("  + ", "") == "  + \n");
  CHECK(framed("  + ", "a\rb\u2028c\u0085d\x0b") == "  + a\\u{d}b\\u{2028}c\\u{85}d\\u{b}\n");
}

TEST_CASE("G37: a line is broken before the terminal breaks it, wide characters counted as two") {
  std::string text(30, 'x');
  text += std::string(50, ' ') + "other__tool: ok" + "漢字漢字漢字漢字漢字漢字漢字漢字漢字漢字漢字漢字\tz";
  const auto lines = lines_of(framed("  - ", text, 40));
  CHECK(lines.size() == 5);
  for (std::size_t i = 0; i < lines.size(); ++i) {
    CHECK(lines[i].starts_with(i == 0 ? "  - " : "  | "));
    CHECK(lines[i].size() <= 4 + 36 * 3);
  }
  std::string joined;
  for (const auto& line : lines) joined += line.substr(4);
  CHECK(joined == text);
}

TEST_CASE("G39: of a long text beginning and end are shown, and between them how much is left out") {
  std::string text = "begin" + std::string(1000, 'x') + "end";
  const auto shown = framed_ends("  arguments: ", text, 0, 300, "s shows them");
  const auto lines = lines_of(shown);
  REQUIRE(lines.size() == 3);
  CHECK(lines[0].starts_with("  arguments: beginxxx"));
  CHECK(lines[1] == "  … 708 bytes of 1008 left out here; s shows them …");
  CHECK(lines[2].ends_with("xxxend"));
  CHECK(framed_ends("  a: ", "short", 0, 300, "") == "  a: short\n");
  CHECK(beginning("abcdef", 3) == "abc… (6 bytes)");
  CHECK(beginning("abc", 3) == "abc");
}

// Tables that fit a terminal.
#include "daemon/cli/terminal/fitted_table.hpp"

#include "test/daemon/cli/terminal/text_of_lines.hpp"

#include <doctest/doctest.h>

#include <string>
#include <vector>

using namespace mcpbx::cli::terminals;
using mcpbx::test::text_of;

namespace {

fitted_table four_columns() {
  fitted_table table({{"NAME"}, {"STATE"}, {"ERA", 2}, {"PID", 1}});
  table.add({{"files", {"ready", look::green}, "legacy", "17"}});
  table.add({{"git", {"failed", look::red}, "", ""}, "no such program in any of the folders"});
  return table;
}

}  // namespace

TEST_CASE("fitted table: without a width every column is there and a note is a line") {
  CHECK(text_of(four_columns().lines(0)) ==
        "NAME   STATE   ERA     PID\n"
        "files  ready   legacy  17\n"
        "git    failed\n"
        "  no such program in any of the folders\n");
}

TEST_CASE("fitted table: a cut text has the mark within its width, and none where there is no room for it") {
  CHECK(cut_columns("abcdef", 4) == "abc…");
  CHECK(cut_columns("abcdef", 4, "...") == "a...");
  CHECK(cut_columns("abcdef", 3, "...") == "abc");
  CHECK(cut_columns("abcdef", 2, "...") == "ab");
  CHECK(cut_columns("abcdef", 6, "...") == "abcdef");
}

TEST_CASE("fitted table: columns are left out by rank and notes are broken between words") {
  CHECK(text_of(four_columns().lines(20)) ==
        "NAME   STATE   PID\n"
        "files  ready   17\n"
        "git    failed\n"
        "  no such program in\n"
        "  any of the folders\n");
  for (const std::size_t width : {13u, 15u, 18u, 26u, 27u, 80u}) {
    CAPTURE(width);
    for (const auto& line : four_columns().lines(width)) CHECK(display_columns(text_of({line})) <= width + 1);
  }
}

TEST_CASE("fitted table: the last column is broken into lines, or stands below where it has no room") {
  fitted_table table({{"ARGUMENT"}, {"DESCRIPTION"}});
  table.wrap_last();
  table.add({{"path", "the file to read, from the root"}});
  CHECK(text_of(table.lines(36)) ==
        "ARGUMENT  DESCRIPTION\n"
        "path      the file to read, from the\n"
        "          root\n");
  CHECK(text_of(table.lines(30)) ==
        "ARGUMENT\n"
        "path\n"
        "    the file to read, from the\n"
        "    root\n");
}

TEST_CASE("fitted table: cells are cut, wide characters count two, and no cell steers the terminal") {
  fitted_table table({{"A"}, {"B"}});
  table.add({{"日本語日本語日本語", "0123456789\x1b[31m"}});
  const auto text = text_of(table.lines(20));
  CHECK(text == "A          B\n日本語日…  01234567…\n");
  table.wrap_last();
  table.add({{"x", "a\tb"}});
  CHECK(text_of(table.lines(0)).find('\t') == std::string::npos);
  CHECK(display_columns("日本⚡") == 6);
  CHECK(display_columns("e\u0301") == 1);
}

TEST_CASE("wrapped: words stay whole where they fit, and line breaks stay") {
  const auto lines = [](const char* text, std::size_t width) { return wrapped(text, width); };
  CHECK(lines("", 10) == std::vector<std::string>{""});
  CHECK(lines("one two three", 7) == std::vector<std::string>{"one two", "three"});
  CHECK(lines("abcdefghijk x", 5) == std::vector<std::string>{"abcde", "fghij", "k x"});
  CHECK(lines("a\n\nb", 5) == std::vector<std::string>{"a", "", "b"});
  CHECK(lines("one two", 0) == std::vector<std::string>{"one two"});
  CHECK(lines("five  ", 4) == std::vector<std::string>{"five"});
}

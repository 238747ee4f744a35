// Tests of the comparison of two transcripts.
#include "test/transcripts/player.hpp"

#include <doctest/doctest.h>

using mcpbx::transcripts::difference;

TEST_CASE("difference: equal texts have none, and others are told by the line") {
  CHECK(difference("a\nb\n", "a\nb\n").empty());
  CHECK(difference("a\nb\nc\n", "a\nx\nc\n") == "line 2 expected: b\nline 2 got:      x\n");
  CHECK(difference("a\nc\n", "a\nb\nc\n") == "line 2 got:      b\n");
  CHECK(difference("a\nb\n", "a\n") == "line 2 expected: b\n");
}

TEST_CASE("difference: three dots stand for any characters only where that is asked for") {
  CHECK(difference("a…d…\n", "abcdef\n", true).empty());
  CHECK(difference("a…\n", "a\n", true).empty());
  CHECK_FALSE(difference("a…d\n", "abcde\n", true).empty());
  CHECK_FALSE(difference("a…\n", "abc\n").empty());
}

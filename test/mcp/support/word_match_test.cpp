// Searching texts by words.
#include "mcp/search/word_match.hpp"

#include <doctest/doctest.h>

#include <string>

using namespace mcpbx;
using namespace mcpbx::search;

TEST_CASE("words: case is folded in four alphabets, and no byte moves") {
  CHECK(folded_case("Hello ÄÖÜ ÉÞ × ΑΩ ЁЙРЯ") == "hello äöü éþ × αω ёйря");
  for (const std::string text : {"ÄÖÜ", "\xC3", "\xD0\xFF", "ΣΠ", "\xCE\x91\xC3\x84"})
    CHECK(folded_case(text).size() == text.size());
}

TEST_CASE("words: a text matches if it has all of them, in any case and order, within longer words too") {
  const word_search s("  Hotel\tLISBON hotel ");
  CHECK(s.words() == std::vector<std::string>{"hotel", "lisbon"});
  CHECK(s.matches("Lisbon has many hotels"));
  CHECK_FALSE(s.matches("Lisbon"));
  CHECK(word_search("").empty());
  CHECK(word_search("1 2 3 4 5 6 7 8 9 a b c d e f g h i j").words().size() == word_search::most_words);
}

TEST_CASE("words: a text of JSON is passed over only if none of its escapes could have them") {
  CHECK(word_search("hotel").may_match_json(R"({"text":"a Hotel"})"));
  CHECK_FALSE(word_search("hotel").may_match_json(R"({"text":"a house"})"));
  CHECK(word_search("hotel").may_match_json(R"({"text":"\u0068otel"})"));
  CHECK(word_search("a\"b ü").may_match_json(R"({"text":"a\"b \u00fc"})"));
}

TEST_CASE("words: their places are in order and do not overlap") {
  const word_search s("lis isbon o");
  using place = word_search::place;
  CHECK(s.places("Lisbon or Rio") == std::vector<place>{{0, 6}, {7, 8}, {12, 13}});
  CHECK(s.places("nada").empty());
}

TEST_CASE("words: the best line has most of them, and is cut around the first") {
  const word_search s("hotel lisbon");
  CHECK(s.best_line("a hotel\n  a hotel in Lisbon \nlisbon", 100) == "a hotel in Lisbon");
  const std::string far = std::string(200, 'x') + " hotel " + std::string(200, 'y');
  const auto cut = s.best_line(far, 60);
  CHECK(cut.starts_with("…"));
  CHECK(cut.ends_with("…"));
  CHECK(cut.find("hotel") != std::string::npos);
  CHECK(cut.size() <= 60 + 2 * std::string("…").size());
  std::string umlauts;
  for (int i = 0; i < 100; ++i) umlauts += "ü";
  CHECK(s.best_line(umlauts + "hotel" + umlauts, 61).find("hotel") != std::string::npos);
  CHECK(s.best_line("", 10).empty());
}

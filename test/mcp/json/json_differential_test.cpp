// The scanner against Boost.JSON, on texts that are right and texts that are nearly right.
#include "mcp/json/json_scanner.hpp"
#include "test/mcp/json/full_parser.hpp"
#include "test/mcp/json/random_json.hpp"

#include <boost/json.hpp>
#include <doctest/doctest.h>

#include <string>

namespace {

using mcpbx::json::check_json;
using mcpbx::json::json_scanner;

void compare(const std::string& text) {
  CAPTURE(text);
  CHECK(mcpbx::test::full_parser_agrees(text, check_json(text, 256) == json_scanner::fault::none));
}

TEST_CASE("G12: the scanner accepts what a full parser accepts") {
  mcpbx::test::random_json random(1);
  for (int i = 0; i < 4000; ++i) {
    const std::string text = random.value(4);
    CAPTURE(text);
    CHECK(check_json(text, 256) == json_scanner::fault::none);
    CHECK(mcpbx::test::full_parser_agrees(text, true));
  }
}

TEST_CASE("G12: the scanner refuses what a full parser refuses") {
  mcpbx::test::random_json random(2);
  for (int i = 0; i < 20000; ++i) compare(random.damaged(random.value(3)));
}

TEST_CASE("G12: every text of one or two bytes is judged as a full parser judges it") {
  for (int a = 0; a < 256; ++a) {
    compare(std::string(1, static_cast<char>(a)));
    for (int b = 0; b < 256; ++b) compare({static_cast<char>(a), static_cast<char>(b)});
  }
}

TEST_CASE("G12: every sequence of up to three bytes in a string is judged as a full parser judges it") {
  for (int a = 0x7F; a < 256; ++a)
    for (int b = 0x70; b < 256; b += 5)
      for (int c = 0x70; c < 256; c += 15)
        compare({'"', static_cast<char>(a), static_cast<char>(b), static_cast<char>(c), '"'});
}

}  // namespace

// Checking and repairing UTF-8.
#include "mcp/support/utf8.hpp"

#include "mcp/json/json_scanner.hpp"

#include <doctest/doctest.h>

#include <string>
#include <string_view>

namespace {

std::string repaired(std::string_view text, std::size_t expected) {
  std::size_t replaced = 99;
  std::string out = mcpbx::repaired_utf8(text, replaced);
  CHECK(replaced == expected);
  CHECK(mcpbx::valid_utf8_prefix(out) == out.size());
  return out;
}

TEST_CASE("G12: the valid prefix ends before the first invalid sequence") {
  CHECK(mcpbx::valid_utf8_prefix("") == 0);
  CHECK(mcpbx::valid_utf8_prefix("é€😀") == 9);
  CHECK(mcpbx::valid_utf8_prefix("a plain text of more than sixteen bytes\xFF") == 39);
  CHECK(mcpbx::valid_utf8_prefix("ab\xE2\x82") == 2);
  CHECK(mcpbx::valid_utf8_prefix("ab\xC0\x80") == 2);
  CHECK(mcpbx::valid_utf8_prefix("\xED\xA0\x80") == 0);
}

TEST_CASE("G12: each invalid sequence becomes one U+FFFD") {
  CHECK(repaired("plain é", 0) == "plain é");
  CHECK(repaired("a\xFFz", 1) == "a\uFFFDz");
  CHECK(repaired("a\xE2\x82z", 1) == "a\uFFFDz");
  CHECK(repaired("a\xE2\x82", 1) == "a\uFFFD");
  CHECK(repaired("\xF0\x9F\x98\xF0\x9F\x98\x80", 1) == "\uFFFD😀");
  CHECK(repaired("\xC0\x80", 2) == "\uFFFD\uFFFD");
  CHECK(repaired("\xED\xA0\x80", 3) == "\uFFFD\uFFFD\uFFFD");
}

TEST_CASE("G12: a text that the tolerant scanner accepts is JSON once it is repaired") {
  for (int a = 0x7F; a < 256; ++a)
    for (int b = 0x20; b < 256; ++b) {
      const std::string text = {'[', '"', static_cast<char>(a), static_cast<char>(b), '"', ']'};
      mcpbx::json::json_scanner tolerant({.max_depth = 4, .tolerate_invalid_utf8 = true});
      if (!tolerant.feed(text) || !tolerant.finish()) continue;
      std::size_t replaced = 0;
      CHECK(mcpbx::json::check_json(mcpbx::repaired_utf8(text, replaced), 4) == mcpbx::json::json_scanner::fault::none);
      CHECK(tolerant.saw_invalid_utf8() == (replaced > 0));
    }
}

TEST_CASE("every code point is decoded to itself") {
  using mcpbx::utf8::decode;
  CHECK(decode("A", 1) == U'A');
  CHECK(decode("é", 2) == U'é');
  CHECK(decode("€", 3) == U'€');
  CHECK(decode("😀", 4) == U'😀');
  int wrong = 0;
  for (char32_t c = 0; c <= 0x10FFFF; c = c == 0xD7FF ? 0xE000 : c + 1) {
    std::string text;
    mcpbx::utf8::append(text, c);
    const auto step = mcpbx::utf8::next(text.data(), text.data() + text.size());
    if (step.what != mcpbx::utf8::status::valid || step.size != text.size() || decode(text.data(), step.size) != c)
      ++wrong;
  }
  CHECK(wrong == 0);
}

}  // namespace

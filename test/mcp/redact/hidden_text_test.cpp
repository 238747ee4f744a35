// Tests of invisible characters: removed for models, shown to people who decide.
#include "mcp/redact/hidden_text.hpp"

#include "mcp/support/text.hpp"
#include "mcp/support/utf8.hpp"

#include <doctest/doctest.h>

#include <initializer_list>
#include <string>
#include <string_view>

using namespace mcpbx;
using namespace mcpbx::json;
using namespace mcpbx::redact;

namespace {

std::string character(char32_t c) {
  std::string out;
  utf8::append(out, c);
  return out;
}

}  // namespace

TEST_CASE("F8: every character of a block that shows nothing is taken out and shown escaped") {
  struct block {
    char32_t first, last;
  };
  for (const block b : {block{0xE0000, 0xE0FFF}, block{0xFE00, 0xFE0F}, block{0x200B, 0x200F}, block{0x202A, 0x202E},
                        block{0x2060, 0x206F}, block{0x80, 0x9F}, block{0xAD, 0xAD}, block{0x34F, 0x34F},
                        block{0x3164, 0x3164}, block{0x180B, 0x180F}, block{0x1D173, 0x1D17A}})
    for (char32_t c = b.first; c <= b.last; ++c) {
      const std::string text = "a" + character(c) + "b";
      CAPTURE(static_cast<std::uint32_t>(c));
      CHECK(printable(text) == "ab");
      CHECK(has_hidden(text));
      CHECK(visible(text).starts_with("a\\u{"));
      CHECK(visible(text).ends_with("}b"));
    }
}

TEST_CASE("F8: hidden characters are shown by their number, line breaks only where they are not kept") {
  CHECK(visible("a\u200Bb\U000E0041c\x1b[31m\u202E") == "a\\u{200b}b\\u{e0041}c\\u{1b}[31m\\u{202e}");
  CHECK(visible("a\nb\tc\r") == "a\\u{a}b\\u{9}c\\u{d}");
  CHECK(visible("a\nb\tc\r", true) == "a\nb\tc\\u{d}");
  CHECK(visible("a\xFF") == "a\uFFFD");
  CHECK(visible("plain é€😀") == "plain é€😀");
  CHECK(!has_hidden("plain é€😀"));
  CHECK(has_hidden("a\nb"));
  CHECK(!has_hidden("a\nb", true));
}

TEST_CASE("F8: joiners and variation selectors stay where words and emoji are written with them") {
  for (const std::string_view text :
       {"👨\u200D👩\u200D👧", "❤\uFE0F\u200D🔥", "1\uFE0F\u20E3", "☎\uFE0E", "می\u200Cخواهم", "क\u094D\u200Dष",
        "ශ\u0DCA\u200Dර\u0DD3", "©\uFE0F", "🏳\uFE0F\u200D🌈"}) {
    CAPTURE(text);
    CHECK(printable(text) == text);
    CHECK(has_hidden(text));  // to whoever decides, all of it is shown
  }
}

TEST_CASE("F8: of joiners no run and none between other characters stays, so that no text can be hidden in them") {
  CHECK(printable("a\u200Db\u200Cc\uFE0Fd") == "abcd");
  CHECK(printable("👨\u200D\u200D👩") == "👨\u200D👩");
  CHECK(printable("👨\u200Dx") == "👨x");
  CHECK(printable("❤\uFE0F\uFE0F\uFE0E\uFE0F") == "❤\uFE0F");
  CHECK(printable("ی\u200C\u200C\u200D\u200Cخ") == "ی\u200Cخ");
  CHECK(printable("1\uFE0F2") == "12");
  CHECK(printable("葛\U000E0100") == "葛");
  CHECK(printable("🏴\U000E0067\U000E007F") == "🏴");
}

TEST_CASE("F8: JSON for a terminal means the same and has nothing that is not seen") {
  const auto json = raw_json::own("{\"a\u009b\":\"x\u202Ey\U000E0041z\x7f\",\r\n\"b\":\"é😀\"}");
  const auto shown = visible_json(json.text());
  CHECK(shown == "{\"a\\u009b\":\"x\\u202ey\\udb40\\udc41z\\u007f\", \n\"b\":\"é😀\"}");
  const auto back = raw_json::parse(shown);
  REQUIRE(back);
  CHECK(find_member(*back, "a\u009b").as_string() == "x\u202Ey\U000E0041z\x7f");
}

TEST_CASE("F8: every string of a value loses what is not seen, whatever its spelling and place") {
  const auto clean = [](std::string_view json) { return std::string(without_hidden(raw_json::own(json)).text()); };
  CHECK(clean(R"({"text":"a\u200bb","n":1.50,"x":["\u202e","c\udb40\udc41d"]})") ==
        R"({"text":"ab","n":1.50,"x":["","cd"]})");
  CHECK(clean("{\"na\u200Bme\":\"a\U000E0101\"}") == R"({"name":"a"})");
  CHECK(clean(R"({"a":"\u001b[31mred\u0007"})") == R"({"a":"[31mred"})");
  CHECK(clean(R"({"a":"\\u200b and \" \\"})") == R"({"a":"\\u200b and \" \\"})");
}

TEST_CASE("F8: a value in which everything is seen keeps its very bytes") {
  for (const std::string_view json : {R"({"a":"line\r\nline\n\ttab","b":"\u00e9 \/ \u0041","c":"👨‍👩‍👧"})",
                                      R"([1,true,null,"x"])", R"("")"}) {
    CAPTURE(json);
    const auto value = raw_json::own(json);
    CHECK(without_hidden(value).text().data() == value.text().data());
  }
}

// Raw values, pieces of text, elements and members of checked JSON.
#include "mcp/json/raw_json.hpp"

#include "mcp/json/json_scanner.hpp"
#include "mcp/json/quoted_size.hpp"
#include "test/mcp/json/random_json.hpp"

#include <doctest/doctest.h>

#include <array>
#include <limits>
#include <random>
#include <string>
#include <string_view>
#include <vector>

namespace {

using namespace std::string_literals;
using mcpbx::errc;
using mcpbx::json::raw_json;
using mcpbx::json::segments;

TEST_CASE("parsing copies one value without the blanks around it") {
  const auto v = raw_json::parse("  {\"a\": 1.0}\n");
  REQUIRE(v);
  CHECK(v->text() == "{\"a\": 1.0}");
  CHECK(v->is_object());
  CHECK(v->owner().size() == v->text().size());
}

TEST_CASE("parsing says what is wrong and where") {
  const auto bad = raw_json::parse("{\"a\":tru}");
  REQUIRE_FALSE(bad);
  CHECK(bad.error().code == errc::parse);
  CHECK(bad.error().message == "invalid JSON at byte 8");
  const auto deep = raw_json::parse("[[[]]]", 2);
  REQUIRE_FALSE(deep);
  CHECK(deep.error().code == errc::limit);
  CHECK(deep.error().message == "nested too deeply at byte 2: more than 2 levels");
}

TEST_CASE("each kind of value is told by its first byte") {
  using kind = raw_json::kind;
  CHECK(raw_json().type() == kind::absent);
  CHECK(raw_json::literal("{}").type() == kind::object);
  CHECK(raw_json::literal("[]").type() == kind::array);
  CHECK(raw_json::literal("\"\"").type() == kind::string);
  CHECK(raw_json::literal("-1").type() == kind::number);
  CHECK(raw_json::literal("true").type() == kind::boolean);
  CHECK(raw_json::literal("null").type() == kind::null);
}

TEST_CASE("only integer tokens that fit are integers") {
  CHECK(raw_json::literal("0").as_integer() == 0);
  CHECK(raw_json::literal("-9223372036854775808").as_integer() == std::numeric_limits<std::int64_t>::min());
  CHECK(raw_json::integer(std::numeric_limits<std::int64_t>::max()).as_integer() ==
        std::numeric_limits<std::int64_t>::max());
  for (const std::string_view text : {"9223372036854775808", "1.0", "1e3", "\"1\"", "null", "", "[]"})
    CHECK_FALSE(raw_json::literal(text).as_integer());
}

TEST_CASE("strings are unescaped and lone surrogates become U+FFFD") {
  const auto text = [](std::string_view token) { return raw_json::literal(token).as_string(); };
  CHECK(text(R"("")") == "");
  CHECK(text(R"("plain")") == "plain");
  CHECK(text(R"("\"\\\/\b\f\n\r\t")") == "\"\\/\b\f\n\r\t");
  CHECK(text(R"("\u0041\u00e9\u20AC\ud83d\uDE00")") == "Aé€😀");
  CHECK(text(R"("a\u0000b")") == "a\0b"s);
  CHECK(text(R"("\ud800")") == "\xEF\xBF\xBD");
  CHECK(text(R"("\udc00x")") == "\xEF\xBF\xBDx");
  CHECK(text(R"("\ud800\u0041")") ==
        "\xEF\xBF\xBD"
        "A");
  CHECK(text(R"("\ud800\ud83d\ude00")") ==
        "\xEF\xBF\xBD"
        "😀");
  CHECK_FALSE(text("1"));
}

TEST_CASE("unescaping reads nothing outside of a token that is cut off") {
  for (const std::string_view token : {"", "\"", "\"\\", "\"\\u", "\"\\u12", "\\ud800\\u", "\\ud800\\", "x\\"})
    (void)mcpbx::json::unescaped(token);
  CHECK(mcpbx::json::unescaped("\"a\\u12\"") ==
        "a\xEF\xBF\xBD"
        "12");
}

TEST_CASE("quoting gives a JSON string that reads back the same") {
  std::string all;
  for (int c = 0; c < 0x80; ++c) all += static_cast<char>(c);
  all += "é€😀";
  const std::string token = mcpbx::json::json_quoted(all);
  CHECK(raw_json::parse(token));
  CHECK(mcpbx::json::unescaped(token) == all);
  CHECK(mcpbx::json::json_quoted("a\x01\n\"") == "\"a\\u0001\\n\\\"\"");
  CHECK(mcpbx::json::json_quoted("\xFF"
                                 "a\xE2\x82") ==
        "\"\xEF\xBF\xBD"
        "a\xEF\xBF\xBD\"");
  CHECK(raw_json::string("x").text() == "\"x\"");
}

TEST_CASE("quoting reads back the same, and has the size that was told, wherever runs of escapes begin and end") {
  std::mt19937_64 random(11);
  static constexpr std::array<std::string_view, 7> pieces{"\"", "\\", "\n", "\x01", "\xC3\xA9", "plain", "p"};
  for (int i = 0; i < 2'000; ++i) {
    std::string text;
    while (random() % 8 != 0) {
      const auto piece = pieces[random() % pieces.size()];
      for (auto times = random() % 300; times > 0; times /= 2) text += piece;
      for (auto times = random() % 40; times > 0; --times) text += piece;
    }
    const std::string token = mcpbx::json::json_quoted(text);
    CHECK(mcpbx::json::quoted_size(text) == token.size());
    CHECK(mcpbx::json::unescaped(token) == text);
    mcpbx::byte_buffer buffer;
    mcpbx::json::append_quoted(buffer, text);
    CHECK(buffer.view() == token);
  }
  CHECK(mcpbx::json::quoted_size("\xFF\xFF") == mcpbx::json::json_quoted("\xFF\xFF").size());
}

TEST_CASE("a slice shares the block and a detached value does not") {
  const auto v = raw_json::parse("{\"a\":[1,2]}");
  REQUIRE(v);
  const raw_json a = mcpbx::json::find_member(*v, "a");
  CHECK(a.owner().data() == v->owner().data());
  CHECK(a.detached().text() == "[1,2]");
  CHECK(a.detached().owner().size() == 5);
}

TEST_CASE("segments join without empty pieces") {
  segments s;
  s.append_literal("{\"a\":");
  s.append(raw_json());
  s.append_copy("1"s);
  segments whole;
  whole.append(s);
  whole.append_literal("}");
  CHECK(whole.pieces().size() == 3);
  CHECK(whole.size() == 7);
  CHECK(whole.str() == "{\"a\":1}");
  CHECK(whole.join().text() == "{\"a\":1}");
  CHECK(segments().join().empty());
}

TEST_CASE("segments keep any number of pieces in order when they are copied and moved") {
  std::string expected;
  segments all;
  for (int n = 0; n < 20; ++n) {
    CHECK(all.pieces().size() == static_cast<std::size_t>(n));
    CHECK(all.size() == expected.size());
    CHECK(all.str() == expected);
    segments copy = all;
    segments moved = std::move(copy);
    CHECK(moved.str() == expected);
    CHECK(copy.empty());
    CHECK(copy.size() == 0);
    copy.append_literal("x");
    CHECK(copy.str() == "x");
    copy = moved;
    moved = std::move(all);
    all = std::move(moved);
    CHECK(copy.join().text() == expected);
    all.append_copy(std::to_string(n));
    expected += std::to_string(n);
  }
}

TEST_CASE("the elements of an array are visited as slices until told to stop") {
  const auto elements = [](std::string_view text, std::size_t most = 99) {
    std::vector<std::string> seen;
    const std::size_t n = mcpbx::json::for_each_element(raw_json::literal(text), [&](const raw_json& e) {
      seen.emplace_back(e.text());
      return seen.size() < most;
    });
    CHECK(n == seen.size());
    return seen;
  };
  using list = std::vector<std::string>;
  CHECK(elements("[]") == list{});
  CHECK(elements("[ ]") == list{});
  CHECK(elements("[1]") == list{"1"});
  CHECK(elements("[ 1.0 , \"a,]\\\"\" ,{\"b\":[1,2]}, [[],{}] , null,true ]") ==
        list{"1.0", "\"a,]\\\"\"", "{\"b\":[1,2]}", "[[],{}]", "null", "true"});
  CHECK(elements("[1,2,3]", 2) == list{"1", "2"});
  CHECK(elements("{\"a\":1}") == list{});
  CHECK(elements("") == list{});
}

TEST_CASE("a value is skipped wherever its strings, escapes and brackets fall into the blocks") {
  for (const std::string_view tail : {"", "\\\\", "\\\"", "\\\\\\\"", "\\u0041", "]}[{"}) {
    for (std::size_t n = 0; n < 200; ++n) {
      const std::string text = "\"" + std::string(n, n % 3 == 0 ? '[' : 'x') + std::string(tail) + "\"";
      const std::string list = "[" + text + ",[[]," + text + "],{\"" + std::string(n / 2, 'k') + "]\":{}}]";
      const std::string object = "{\"a\":" + list + ",\"b\":" + text + ",\"c\":[" + list + "]}";
      REQUIRE(raw_json::parse(object));
      const raw_json o = raw_json::own(object);
      CHECK(mcpbx::json::find_member(o, "a").text() == list);
      CHECK(mcpbx::json::find_member(o, "b").text() == text);
      CHECK(mcpbx::json::find_member(o, "c").text() == "[" + list + "]");
      CHECK(mcpbx::json::for_each_element(mcpbx::json::find_member(o, "a"), [](const raw_json&) { return true; }) == 3);
    }
  }
}

TEST_CASE("skipping agrees with the scanner on random documents") {
  mcpbx::test::random_json random(6);
  for (int i = 0; i < 4000; ++i) {
    const std::string text =
        "{\"x\":" + random.value(5) + ",\"result\":" + random.value(5) + ",\"y\":" + random.value(2) + "}";
    mcpbx::json::json_scanner scanner;
    REQUIRE(scanner.feed(text));
    const auto& span = scanner.envelope()[mcpbx::json::envelope_member::result];
    CHECK(mcpbx::json::find_member(raw_json::own(text), "result").text() ==
          text.substr(span.begin, span.end - span.begin));
  }
}

TEST_CASE("a member is found by its unescaped key and the last one wins") {
  const raw_json o = raw_json::literal(R"({ "a" : 1, "b":{"c":2}, "\u0063":"x}", "a":[3], "d\\":4, "":5 })");
  CHECK(mcpbx::json::find_member(o, "a").text() == "[3]");
  CHECK(mcpbx::json::find_member(o, "b").text() == "{\"c\":2}");
  CHECK(mcpbx::json::find_member(o, "c").text() == "\"x}\"");
  CHECK(mcpbx::json::find_member(o, "d\\").text() == "4");
  CHECK(mcpbx::json::find_member(o, "d\\\\").empty());
  CHECK(mcpbx::json::find_member(o, "").text() == "5");
  CHECK(mcpbx::json::find_member(o, "e").empty());
  CHECK(mcpbx::json::find_member(raw_json::literal("[]"), "a").empty());
  CHECK(mcpbx::json::find_member(raw_json(), "a").empty());
}

}  // namespace

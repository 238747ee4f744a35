// The parser by itself: what it takes, where it says things stand, and how it goes on after an error.
#include "conf/document/jsonc.hpp"

#include <doctest/doctest.h>

using namespace mcpbx::conf::documents;

namespace {

struct parsed {
  node root;
  std::vector<diagnostic> errors;
  std::string text() const { return listing(errors); }
};

parsed parse(std::string_view text) {
  parsed p;
  p.root = parse_jsonc(text, 0, "f", p.errors);
  return p;
}

}  // namespace

TEST_CASE("jsonc: comments and trailing commas are taken") {
  const auto p =
      parse("// head\n{ /* a */ \"a\" /* b */ : /* c */ [1, 2, /* d */ ], // e\n \"b\": {\"c\": null,},\n} // tail");
  CHECK(p.text() == "");
  REQUIRE(p.root.is(node::kind::object));
  REQUIRE(p.root.members.size() == 2);
  CHECK(p.root.members[0].value.items.size() == 2);
  CHECK(p.root.find("b")->value.find("c")->value.is(node::kind::null));
}

TEST_CASE("jsonc: every key and value knows its line and its column in characters") {
  const auto p = parse("\xEF\xBB\xBF{\n  \"ä\": \"ö\", \"b\": 7,\n\t\"c\": [true]\n}");
  CHECK(p.text() == "");
  CHECK(p.root.at.line == 1);
  CHECK(p.root.at.column == 1);
  CHECK(p.root.members[0].at.column == 3);
  CHECK(p.root.members[0].value.at.column == 8);
  CHECK(p.root.members[1].at.column == 13);
  CHECK(p.root.members[1].value.at.line == 2);
  CHECK(p.root.members[2].value.items[0].at.line == 3);
  CHECK(p.root.members[2].value.items[0].at.column == 8);
}

TEST_CASE("jsonc: numbers keep their kind") {
  const auto p = parse("[0, -7, 9223372036854775807, 9223372036854775808, 1.0, 1e3, 2.5, 1e400, 1e-400]");
  CHECK(p.text() == "");
  const auto& i = p.root.items;
  CHECK(i[0].is(node::kind::integer));
  CHECK(i[1].whole == -7);
  CHECK(i[2].whole == INT64_MAX);
  CHECK(i[3].is(node::kind::number));
  CHECK(i[4].whole == 1);
  CHECK(i[5].whole == 1000);
  CHECK(i[6].real == 2.5);
  CHECK(i[7].is(node::kind::number));
  CHECK(i[8].real == 0.0);
}

TEST_CASE("jsonc: escapes become the characters they stand for") {
  const auto p = parse(R"(["\"\\\/\b\f\n\r\t", "\u00e9\u20AC\ud83d\ude00"])");
  CHECK(p.text() == "");
  CHECK(p.root.items[0].text == "\"\\/\b\f\n\r\t");
  CHECK(p.root.items[1].text == "é€😀");
}

TEST_CASE("jsonc: what is wrong is told with its place and mend") {
  struct {
    const char *text, *errors;
  } const cases[] = {
      {"", "f:1:1: the file holds no JSON value: write {} or delete the file\n"},
      {"// nothing", "f:1:11: the file holds no JSON value: write {} or delete the file\n"},
      {"{\"a\": 1 \"b\": 2}", "f:1:9: a comma is missing before this: write , after the value before it\n"},
      {"{\"a\": 1,, \"b\": 2}", "f:1:9: a comma too many: take it out\n"},
      {"{a: 1}", "f:1:2: a key needs quotes: write it in double quotes\n"},
      {"{'a': 1}", "f:1:2: a key needs double quotes: write \"…\" instead of '…'\n"},
      {"{\"a\": 'x, y', \"b\": 1}", "f:1:7: strings need double quotes, in \"a\": write \"…\" instead of '…'\n"},
      {"{\"a\" = 1}", "f:1:6: a colon stands between a key and its value, in \"a\": write : instead of =\n"},
      {"{\"a\" 1}", "f:1:6: a colon and a value are missing after the key, in \"a\": write : and the value\n"},
      {"{\"a\": }", "f:1:7: a value is missing here, in \"a\": write the value, or take the key out\n"},
      {"{\"a\": True}", "f:1:7: this is not JSON, in \"a\": write true\n"},
      {"{\"a\": npx}", "f:1:7: a string needs quotes, in \"a\": write it in double quotes\n"},
      {"{\"a\": 01}", "f:1:7: this is not a JSON number, in \"a\": write it like 10, -3 or 0.5\n"},
      {"{\"a\": {\"b\": [1, .5]}}", "f:1:17: this is not a JSON number, in \"a.b[1]\": write it like 10, -3 or 0.5\n"},
      {"{\"a\": \"x\n, \"b\": 1}",
       "f:1:7: this string is not closed on its line, in \"a\": write the closing \" (and \\n for a line break)\n"},
      {R"({"a": "C:\Users"})", "f:1:10: no escape of JSON starts like this, in \"a\": write \\\\ for a backslash\n"},
      {R"({"a": "\ud800"})", "f:1:8: half of a surrogate pair stands alone, in \"a\": write the character itself\n"},
      {R"({"a": "\u0000"})", "f:1:8: \\u0000 cannot stand in a configuration, in \"a\": take it out\n"},
      {R"({"a": "\u00g0"})", "f:1:8: \\u needs four hexadecimal digits, in \"a\": write it like \\u00e9\n"},
      {"{\"a\": \"x\ty\"}",
       "f:1:9: a control character stands in a string, in \"a\": write \\t for a tab, \\u00XX for others\n"},
      {"{\"a\": [1, 2}",
       "f:1:12: \"}\" does not close what opened at line 1:7, in \"a\": write \"]\" there, or take this one out\n"},
      {"{\"a\": 1", "f:1:8: the file ends inside the object that opened at line 1:1: write } where it ends\n"},
      {"{\"a\": [1", "f:1:9: the file ends inside the list that opened at line 1:7, in \"a\": write ] where it ends\n"},
      {"{} {}", "f:1:4: something stands after the end of the document: take it out, or move it inside the { }\n"},
      {"{/* x", "f:1:2: this comment is not closed: write */ where it ends\n"},
      {"{\"a\": \"\xff\"}", "f:1:8: the file is not valid UTF-8 here: save it as UTF-8\n"},
      {"{\"a\": 1,\n \"b\": 2,\n \"a\": 3}",
       "f:3:2: this key stands twice, first at line 1:2, in \"a\": take one of the two out\n"},
  };
  for (const auto& c : cases) {
    CAPTURE(c.text);
    CHECK(parse(c.text).text() == c.errors);
  }
}

TEST_CASE("jsonc: all errors of a file come at once and the rest of it is read") {
  const auto p = parse("{\n \"a\": tru,\n \"b\": [1 2],\n \"c\": {\"d\": 'x'},\n \"e\": 5\n}");
  CHECK(p.errors.size() == 3);
  CHECK(p.errors[0].line == 2);
  CHECK(p.errors[1].line == 3);
  CHECK(p.errors[2].line == 4);
  REQUIRE(p.root.find("e"));
  CHECK(p.root.find("e")->value.whole == 5);
  CHECK(p.root.find("c")->value.damaged);
  CHECK_FALSE(p.root.find("e")->value.damaged);
}

TEST_CASE("jsonc: nesting is bounded and a flood of brackets costs one error") {
  const auto deep = [](int n) {
    return std::string(static_cast<std::size_t>(n), '[') + std::string(static_cast<std::size_t>(n), ']');
  };
  CHECK(parse(deep(max_jsonc_depth)).errors.empty());
  CHECK(parse(deep(max_jsonc_depth + 1)).errors.size() == 1);
  CHECK(parse(deep(200'000)).errors.size() == 1);
  CHECK(parse(std::string(200'000, '[')).errors.size() <= 2);
  CHECK(parse(std::string(200'000, '}')).errors.size() == 1);
}

TEST_CASE("jsonc: the errors of one file are bounded") {
  std::string text = "[";
  for (int i = 0; i < 10'000; ++i) text += "x,";
  const auto p = parse(text + "]");
  CHECK(p.errors.size() == 50);
  CHECK(p.errors.back().what.starts_with("too many errors"));
}

TEST_CASE("jsonc: no beginning and no damaged byte of a document does harm") {
  const std::string whole =
      "{ // c\n \"a\": [1, -2.5e3, \"x\\u00e9\\n\", {\"b\": null, }, ], /* d */ \"c\": {\"d\": true} }";
  REQUIRE(parse(whole).errors.empty());
  for (std::size_t n = 0; n < whole.size(); ++n) CHECK_FALSE(parse(whole.substr(0, n)).errors.empty());
  for (std::size_t n = 0; n < whole.size(); ++n)
    for (const char c : {'"', '{', '}', '[', ']', ',', ':', '\\', '/', '\n', '\0', '\xff', '\''}) {
      auto damaged = whole;
      damaged[n] = c;
      for (const auto& e : parse(damaged).errors) CHECK_FALSE(e.text().empty());
    }
}

// Edits of JSON with comments: the bytes that were asked for change, and no others.
#include "conf/edit/json_edit.hpp"

#include "conf/document/jsonc.hpp"

#include <doctest/doctest.h>

#include <random>
#include <string>
#include <vector>

using namespace mcpbx;
using namespace mcpbx::conf::documents;
using namespace mcpbx::conf::edit;

namespace {

std::string set(std::string_view text, const json_path& path, std::string_view json) {
  const auto out = set_member(text, path, json, "f");
  return out ? *out : "ERROR " + out.error().message;
}

std::string removed(std::string_view text, const json_path& path) {
  const auto out = remove_member(text, path, "f");
  return out ? *out : "ERROR " + out.error().message;
}

std::string commented(std::string_view text, const json_path& path) {
  const std::vector<std::string> lines{"// one", "// two"};
  const auto out = comment_member(text, path, lines, "f");
  return out ? *out : "ERROR " + out.error().message;
}

}  // namespace

TEST_CASE("json_edit: comments stand on lines of their own above a member, which says what it said") {
  CHECK(commented("{\n  \"a\": 1,\n\t\"b\": {}\n}\n", {"b"}) == "{\n  \"a\": 1,\n\t// one\n\t// two\n\t\"b\": {}\n}\n");
  CHECK(commented("{\"a\": 1, \"b\": {\"c\": 2}}", {"b", "c"}) == "{\"a\": 1, \"b\": {\n// one\n// two\n\"c\": 2}}");
  CHECK(commented("{\r\n  \"a\": 1\r\n}", {"a"}) == "{\r\n  // one\r\n  // two\r\n  \"a\": 1\r\n}");
  CHECK(commented("{\"a\": 1}", {"b"}) == "{\"a\": 1}");
  CHECK(commented("", {"b"}).empty());
  CHECK(commented("{", {"b"}).starts_with("ERROR"));
}

TEST_CASE("json_edit: an empty document becomes an object with the member and its parents") {
  CHECK(set("", {"mcpServers", "git"}, R"({"command":"git-mcp","args":["-y","."]})") ==
        "{\n  \"mcpServers\": {\n    \"git\": {\n      \"command\": \"git-mcp\",\n      \"args\": [\"-y\", \".\"]\n"
        "    }\n  }\n}\n");
  CHECK(set("  \n", {"a"}, "1") == "  \n{\n  \"a\": 1\n}\n");
  CHECK(set("// mine", {"a"}, "1") == "// mine\n{\n  \"a\": 1\n}\n");
  CHECK(set("{}", {"a"}, "1") == "{\n  \"a\": 1\n}");
}

TEST_CASE("json_edit: a new member stands last, in the indentation and with the comments of the others") {
  const std::string text =
      "// head\n{\n\t\"a\": 1, // about a\n\t/* about b */ \"b\": {\n\t\t\"c\": 2 // about c\n\t}\n\t// foot\n}\n";
  CHECK(set(text, {"b", "d"}, R"({"x":[]})") ==
        "// head\n{\n\t\"a\": 1, // about a\n\t/* about b */ \"b\": {\n\t\t\"c\": 2, // about c\n\t\t\"d\": "
        "{\n\t\t\t\"x\": "
        "[]\n\t\t}\n\t}\n\t// foot\n}\n");
  CHECK(set("{\n    \"a\": 1,\n}\n", {"b"}, "{\"c\":true}") ==
        "{\n    \"a\": 1,\n    \"b\": {\n        \"c\": true\n    },\n}\n");
  CHECK(set("{\"a\": 1}", {"b"}, "[1, 2]") == "{\"a\": 1, \"b\": [1, 2]}");
  CHECK(set("{\"a\": {}}", {"a", "b"}, "{\"c\":1}") == "{\"a\": {\"b\": {\"c\": 1}}}");
  CHECK(set("{\"a\": 1 // one\n}", {"b"}, "2") == "{\"a\": 1, // one\n\"b\": 2\n}");
  CHECK(set("{ \"a\": 1 }", {"b"}, "2") == "{ \"a\": 1, \"b\": 2 }");
  CHECK(set("{\n  // nothing yet\n}\n", {"a"}, "1") == "{\n  // nothing yet\n  \"a\": 1\n}\n");
  CHECK(set("{\n  \"a\": 1 }", {"b"}, "2") == "{\n  \"a\": 1,\n  \"b\": 2 }");
}

TEST_CASE("json_edit: line ends and a byte order mark stay") {
  CHECK(set("\xEF\xBB\xBF{\r\n  \"a\": 1\r\n}\r\n", {"b"}, "{\"c\":2}") ==
        "\xEF\xBB\xBF{\r\n  \"a\": 1,\r\n  \"b\": {\r\n    \"c\": 2\r\n  }\r\n}\r\n");
  CHECK(set("\xEF\xBB\xBF", {"a"}, "1") == "\xEF\xBB\xBF{\n  \"a\": 1\n}\n");
  CHECK(removed("\xEF\xBB\xBF{\r\n  \"a\": 1,\r\n  \"b\": 2\r\n}\r\n", {"b"}) ==
        "\xEF\xBB\xBF{\r\n  \"a\": 1\r\n}\r\n");
  CHECK(set("{\"a\": 1 // one\r\n}", {"b"}, "2") == "{\"a\": 1, // one\r\n\"b\": 2\r\n}");
}

TEST_CASE("json_edit: a value is replaced in place, and stays when it says the same") {
  CHECK(set("{\n  \"a\": {\n    \"b\": 1 // x\n  },\n  \"c\": 2\n}", {"a", "b"}, "[\"n\"]") ==
        "{\n  \"a\": {\n    \"b\": [\"n\"] // x\n  },\n  \"c\": 2\n}");
  const std::string same = "{ \"a\" : { /* c */ \"b\":[1 ,2,] } }";
  CHECK(set(same, {"a"}, R"({"b": [1, 2]})") == same);
  CHECK(set("{\"a\": null}", {"a", "b"}, "1") == "{\"a\": {\"b\": 1}}");
  CHECK(set(R"({"\u0061": 1})", {"a"}, "2") == R"({"\u0061": 2})");
  CHECK(set("{\"n\": 1}", {"n"}, "123456789012345678901234567890.50") == "{\"n\": 123456789012345678901234567890.50}");
}

TEST_CASE("json_edit: a removed member takes its comma and the comment of its line along") {
  const std::string text = "{\n  // above\n  \"a\": 1, // a\n  \"b\": 2, // b\n  \"c\": 3 // c\n}\n";
  CHECK(removed(text, {"a"}) == "{\n  // above\n  \"b\": 2, // b\n  \"c\": 3 // c\n}\n");
  CHECK(removed(text, {"b"}) == "{\n  // above\n  \"a\": 1, // a\n  \"c\": 3 // c\n}\n");
  CHECK(removed(text, {"c"}) == "{\n  // above\n  \"a\": 1, // a\n  \"b\": 2 // b\n}\n");
  CHECK(removed("{\"a\": 1, \"b\": 2}", {"a"}) == "{\"b\": 2}");
  CHECK(removed("{\"a\": 1, \"b\": 2}", {"b"}) == "{\"a\": 1}");
  CHECK(removed("{\"a\": 1, \"b\": 2\n}", {"b"}) == "{\"a\": 1\n}");
  CHECK(removed("{ \"a\": 1 }", {"a"}) == "{}");
  CHECK(removed("{\n  \"a\": {\n    \"b\": 1,\n  },\n}\n", {"a", "b"}) == "{\n  \"a\": {},\n}\n");
  CHECK(removed("{\n  \"a\": 1, // x\n  \"b\": 2 }", {"b"}).find("// x\n") != std::string::npos);
  CHECK(removed(text, {"d"}) == text);
  CHECK(removed(text, {"a", "b"}) == text);
  CHECK(removed("", {"a"}) == "");
}

TEST_CASE("json_edit: what cannot be read is an error with its place, and nothing is guessed") {
  CHECK(set("{\"a\": 1,\n \"a\": 2}", {"b"}, "1").find("ERROR f:2:2: this key stands twice") == 0);
  CHECK(set("{\"a\": 1", {"b"}, "1").find("ERROR f:1:8: the file ends inside the object") == 0);
  CHECK(set("[1]", {"b"}, "1") == "ERROR f holds a list, not an object: write { … } around it");
  CHECK(set("{\"a\": {\"b\": 7}}", {"a", "b", "c"}, "1") ==
        "ERROR f:1:13: \"a.b\" is a number, not an object: make it one");
  CHECK(set("/* open", {"b"}, "1").find("ERROR f:1:1: this comment is not closed") == 0);
  CHECK(set("{}", {"b"}, "{").find("ERROR the new value:1:2") == 0);
  CHECK(set("{}", {}, "1") == "ERROR no member is named");
  CHECK(set("{\"a\":\"\xFF\"}", {"b"}, "1").find("not valid UTF-8") != std::string::npos);
  CHECK(removed("{\"a\": }", {"a"}).find("ERROR f:1:7") == 0);
  json_path deep;
  for (int i = 0; i < max_jsonc_depth + 2; ++i) deep.emplace_back("k");
  CHECK(set("{}", deep, "1").find("nested deeper than 64") != std::string::npos);
}

TEST_CASE("json_edit: values and keys are read where they stand") {
  const std::string text = "{ \"a\": { \"b\" : [1, /* two */ 2] }, \"c\": null }";
  CHECK(member_text(text, {"a", "b"}, "f").value() == "[1, /* two */ 2]");
  CHECK_FALSE(member_text(text, {"a", "x"}, "f").value());
  CHECK(member_keys(text, {}, "f").value() == std::vector<std::string>{"a", "c"});
  CHECK(member_keys(text, {"c"}, "f").value().empty());
  CHECK_FALSE(member_keys("{", {"c"}, "f"));
}

TEST_CASE("json_edit: what was added and removed again leaves the text as it was, in any layout") {
  std::mt19937 random(7);
  const auto pick = [&](std::initializer_list<const char*> of) {
    return std::string(of.begin()[random() % of.size()]);
  };
  for (int round = 0; round < 2'000; ++round) {
    const auto nl = pick({"\n", "\r\n", "", " "}), in = pick({"  ", "\t", "    ", ""});
    const bool lines = nl.ends_with('\n');
    const auto gap = [&] { return lines ? pick({"", " ", " // c"}) : pick({"", " ", " /* c */"}); };
    std::string text = pick({"", "\xEF\xBB\xBF", "// head\n", "/* head */ "}) + "{" + gap() + nl;
    const auto count = 1 + random() % 3;
    for (std::size_t i = 0; i < count; ++i) {
      const bool last = i + 1 == count;
      text += in + "\"k" + std::to_string(i) + "\":" + pick({"", " "}) + pick({"1", "{}", "[1,2]", "{\"x\": \"//\"}"});
      text += last ? pick({"", ","}) : ",";
      text += gap() + nl;
    }
    text += pick({"", "// foot\n", "/* foot */"}) + "}" + pick({"", "\n"});
    const auto with = set_member(text, {"new"}, R"({"a":{"b":[1]},"c":"d"})", "f");
    REQUIRE_MESSAGE(with, text << (with ? "" : with.error().message));
    const auto back = remove_member(*with, {"new"}, "f");
    REQUIRE_MESSAGE(back, *with << (back ? "" : back.error().message));
    CHECK_MESSAGE(*back == text, *with);
    for (std::size_t i = 0; i < count; ++i) {
      const auto less = remove_member(text, {"k" + std::to_string(i)}, "f");
      REQUIRE_MESSAGE(less, text << (less ? "" : less.error().message));
    }
  }
}

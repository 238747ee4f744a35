// Tests of repairs and refusals of malformed JSON.
#include "providers/model/json_repair.hpp"

#include "mcp/json/raw_json.hpp"

#include <doctest/doctest.h>

#include <string>
#include <string_view>
#include <vector>

namespace {

using namespace mcpbx;
using namespace mcpbx::json;
using namespace mcpbx::providers;

struct row {
  std::string_view in, out, repair;
};

std::string list(const std::vector<std::string_view>& all) {
  std::string text;
  for (const auto one : all) text += (text.empty() ? "" : ", ") + std::string(one);
  return text;
}

TEST_CASE("F6: what has one meaning is repaired, and each repair is named") {
  const row rows[] = {
      {R"({'city': 'Paris', "days": 3})", R"({"city":"Paris","days":3})", "quotes of another kind"},
      {R"({`a`: `it's "b"`})", R"({"a":"it's \"b\""})", "quotes of another kind"},
      {"{\xE2\x80\x9C"
       "a\xE2\x80\x9D: \xE2\x80\x98"
       "b\xE2\x80\x99}",
       R"({"a":"b"})", "quotes of another kind"},
      {R"({city: "Paris", $x_1: 2})", R"({"city":"Paris","$x_1":2})", "key without quotes"},
      {R"({"a": [1, 2,], "b": {},})", R"({"a":[1,2],"b":{}})", "trailing comma"},
      {"{a: 1\n b: 2\n 'c-d': 3}", R"({"a":1,"b":2,"c-d":3})",
       "key without quotes, missing comma, quotes of another kind"},
      {R"x({"a": '{"k": 1}', "b": {c: 'f({"k": 1})', d: 'x"::text'}})x",
       R"x({"a":"{\"k\": 1}","b":{"c":"f({\"k\": 1})","d":"x\"::text"}})x",
       "quotes of another kind, key without quotes"},
      {R"({'a': 'k": 1'})", R"({"a":"k\": 1"})", "quotes of another kind"},
      {R"({"path": "a.txt", content: "Hello.", "n": 1})", R"({"path":"a.txt","content":"Hello.","n":1})",
       "key without quotes"},
      {R"({"a": "x" "b": ["1" "2"]})", R"({"a":"x","b":["1","2"]})", "missing comma"},
      {"{ // it's \"x\"\n \"a\": 1, /* y */ # z\n \"b\": 2}", R"({"a":1,"b":2})", "comment"},
      {R"({"on": True, "off": False, "tag": None, "u": undefined})", R"({"on":true,"off":false,"tag":null,"u":null})",
       "literal of another language"},
      {"{\"t\": \"a\nb\tc\x01\"}", R"({"t":"a\nb\tc\u0001"})", "control character in a string"},
      {R"({"p": "C:\Users\x", "q": "\d+\u12"})", R"({"p":"C:\\Users\\x","q":"\\d+\\u12"})", "unknown escape"},
      {R"({"c": "re.match('\d+', s)\nx = 1"})", R"({"c":"re.match('\\d+', s)\nx = 1"})", "unknown escape"},
      {R"({"q": "name = \'x\'"})", R"({"q":"name = 'x'"})", "unknown escape"},
      {R"({'q': 'it\'s'})", R"({"q":"it's"})", "quotes of another kind, unknown escape"},
      {R"({"a": 1}})", R"({"a":1})", "closing bracket too many"},
      {R"({"a": "x" + 'y' + "z"})", R"({"a":"xyz"})", "joined strings, quotes of another kind"},
      {"```json\n{\"a\": 1}\n```", R"({"a":1})", "code fence"},
      {"Here it is: {\"a\": 1} (as you asked)", R"({"a":1})", "text around the object"},
      {"\xEF\xBB\xBF{\xC2\xA0\"a\": 1}", R"({"a":1})", "no-break space"},
      {R"({\"a\": \"b\\n\", \"n\": 1})", R"({"a":"b\n","n":1})", "escaped once more"},
      {R"({'id': 12345678901234567890, 'x': -1.5e+300})", R"({"id":12345678901234567890,"x":-1.5e+300})",
       "quotes of another kind"},
  };
  for (const auto& r : rows) {
    CAPTURE(r.in);
    const auto repaired = repair_json(r.in);
    REQUIRE_MESSAGE(repaired, repaired.error().message);
    CHECK(repaired->text == r.out);
    CHECK(list(repaired->repairs) == r.repair);
    CHECK(raw_json::parse(repaired->text, 66));
  }
}

TEST_CASE("G29: what would need an invented end, value or quote is refused with the reason") {
  const std::pair<std::string_view, std::string_view> rows[] = {
      {R"({"path": "/etc/pas)", "string is not closed"},
      {R"({"path": "a\)", "string is not closed"},
      {R"({"a": "b")", "object is not closed"},
      {R"({"a": [1, 2)", "number is not complete"},
      {R"({"a": [1, "2")", "list is not closed"},
      {R"({"a": [1, 2})", "comma is missing"},
      {R"({"a": 12.)", "number is not complete"},
      {R"({"a": 12)", "number is not complete"},
      {R"({"a": tr)", "neither quoted"},
      {R"({"p": "C:\bin\app.exe"})", "backslash in a string"},
      {R"({"p": "in C:\Users\new files"})", "backslash in a string"},
      {R"({"p": "src\new\Main.java"})", "backslash in a string"},
      {R"({"p": "\\host\share"})", "backslash in a string"},
      {R"({"a": true)", "neither quoted"},
      {R"({"a": })", "value is missing"},
      {R"({"a": 1,, "b": 2})", "key is missing"},
      {R"({"a" 1})", "colon is missing"},
      {R"({"t": "he said "no" to it"})", "not escaped"},
      {R"({'t': 'it's'})", "not escaped"},
      {R"({"t": "a" b: 1})", "comma is missing"},
      {R"({"t": "a," "b": 1})", "inside of the quotes"},
      {R"({"t": "a", "u": "b, "
 "v": 1})",
       "inside of the quotes"},
      {R"({'t': 'a' ',b': 1})", "inside of the quotes"},
      {R"({"t": ["a," "b"]})", "inside of the quotes"},
      {R"({"t": """x"""})", "not escaped"},
      {R"({"n": NaN})", "neither quoted"},
      {R"({"n": Infinity})", "neither quoted"},
      {R"({"n": 007})", "not written as in JSON"},
      {R"({"n": +1})", "not written as in JSON"},
      {R"({"n": .5})", "not written as in JSON"},
      {R"({"n": 5.})", "not written as in JSON"},
      {R"({"n": 0x1F})", "not written as in JSON"},
      {R"({"n": 1 000})", "comma is missing"},
      {R"({"city": Paris})", "neither quoted"},
      {R"({"a": 1}{"b": 2})", "follows the end"},
      {R"({"a": 1}, "b": 2})", "follows the end"},
      {R"({"a": 1} and {"b": 2})", "follows the end"},
      {R"([{"a": 1,}])", "part of something else"},
      {R"("a": {"b": 1,})", "part of something else"},
      {R"(f({'b': 1}))", "part of something else"},
      {R"({"a": 1 /* open })", "comment is not closed"},
      {R"({"a": ...})", "not written as in JSON"},
      {R"({"a": "x(",b: 1})", "some keys have quotes"},
      {R"({a: ")x", 'b': 1})", "some keys have quotes"},
      {R"({"a": [{b: ")x"}]})", "some keys have quotes"},
      {R"({"a": ["x", 'k":"y"']})", "in other quotes than the rest"},
      {R"({"a": ["x", '"k" : "y"']})", "in other quotes than the rest"},
      {R"({"a": ['x",{"k":/y"', 1, "z"]})", "in other quotes than the rest"},
      {R"({"a": ['x",{"k":"y"']})", "in other quotes than the rest"},
      {"", "there is no object"},
      {"hello", "there is no object"},
  };
  for (const auto& [in, why] : rows) {
    CAPTURE(in);
    const auto repaired = repair_json(in);
    REQUIRE_FALSE(repaired);
    CHECK(repaired.error().code == errc::parse);
    CHECK_MESSAGE(repaired.error().message.find(why) != std::string::npos, repaired.error().message);
    CHECK(repaired.error().message.find(" at byte ") != std::string::npos);
  }
}

TEST_CASE("F6: a value of any kind is repaired alone, and refused with anything behind it") {
  for (const auto& [in, out] :
       std::vector<std::pair<std::string_view, std::string_view>>{{"['a', 1,]", R"(["a",1])"},
                                                                  {"{a: None}", R"({"a":null})"},
                                                                  {"'x'", R"("x")"},
                                                                  {"True", "true"},
                                                                  {"5 ", "5"}}) {
    CAPTURE(in);
    const auto repaired = repair_json_value(in);
    REQUIRE(repaired);
    CHECK(repaired->text == out);
  }
  for (const std::string_view in : {"", "[1], 2", "[1], \"v\": [2]", "\"a\" \"b\": 2", "[1]]", "1,", "[1", "5.", "x"}) {
    CAPTURE(in);
    CHECK_FALSE(repair_json_value(in));
  }
}

TEST_CASE("F6: depth and size are bounded") {
  std::string deep = "{'a':";
  for (int i = 0; i < 100'000; ++i) deep += '[';
  CHECK(repair_json(deep).error().code == errc::limit);
  CHECK(repair_json(std::string(max_repaired + 1, ' ')).error().code == errc::limit);
}

TEST_CASE("G29: no beginning of an object is ever taken for the whole of it") {
  const std::string whole =
      R"({'path': "a \"b\"", "n": [1.5, -2e3, {"x": None}], "o": {x: 1}, 'on': True, "t": "x" + 'y'})";
  REQUIRE(repair_json(whole));
  for (std::size_t n = 0; n < whole.size(); ++n) CHECK_FALSE(repair_json(whole.substr(0, n)));
}

}  // namespace

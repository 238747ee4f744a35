// The scanner's grammar, limits and index, on whole texts. (Cut texts: json_scanner_resume_test.cpp.)
#include "mcp/json/json_scanner.hpp"

#include <doctest/doctest.h>

#include <string>
#include <string_view>
#include <vector>

namespace {

using namespace std::string_literals;
using mcpbx::json::check_json;
using mcpbx::json::envelope_member;
using mcpbx::json::json_scanner;
using fault = json_scanner::fault;

fault judge(std::string_view text, int depth = 256) {
  return check_json(text, depth);
}

std::string member(std::string_view text, envelope_member m) {
  json_scanner s;
  REQUIRE(s.feed(text));
  REQUIRE(s.finish());
  const auto& span = s.envelope()[m];
  return std::string(text.substr(span.begin, span.end - span.begin));
}

TEST_CASE("G12: the corner cases of RFC 8259 that are JSON") {
  for (const std::string_view text : {"0",
                                      "-0",
                                      "1",
                                      "10",
                                      "-1",
                                      "0.0",
                                      "0.5",
                                      "1.25",
                                      "1e1",
                                      "1E1",
                                      "1e+1",
                                      "1e-1",
                                      "0e0",
                                      "0.0e00",
                                      "123456789012345678901234567890",
                                      "1e400",
                                      "true",
                                      "false",
                                      "null",
                                      "\"\"",
                                      "\"a\"",
                                      "[]",
                                      "{}",
                                      "[0]",
                                      "[1,2]",
                                      "[[],{}]",
                                      "{\"\":0}",
                                      "{\"a\":{\"a\":[]}}",
                                      " 1 ",
                                      "\t\r\n [ 1 , 2 ] \n",
                                      "{ \"a\" : 1 , \"b\" : [ ] }",
                                      "\"\\\"\\\\\\/\\b\\f\\n\\r\\t\\u00Ff\"",
                                      "\"/\"",
                                      "\"\x7f\"",
                                      "{\"a\":1,\"a\":2}"}) {
    CAPTURE(text);
    CHECK(judge(text) == fault::none);
  }
}

TEST_CASE("G12: the corner cases of RFC 8259 that are not JSON") {
  for (const std::string_view text : {"+1",
                                      "01",
                                      "-01",
                                      "00",
                                      "1.",
                                      "-",
                                      ".5",
                                      "1e",
                                      "1e+",
                                      "1.e1",
                                      "--1",
                                      "1-",
                                      "0x10",
                                      "1_000",
                                      "Infinity",
                                      "NaN",
                                      "nan",
                                      "tru",
                                      "trueX",
                                      "True",
                                      "nul",
                                      "nulll",
                                      "falsee",
                                      "\"",
                                      "\"a",
                                      "'a'",
                                      "[",
                                      "]",
                                      "[1",
                                      "[1,",
                                      "[1,]",
                                      "[,1]",
                                      "[1 2]",
                                      "[1,,2]",
                                      "{",
                                      "}",
                                      "{,}",
                                      "{\"a\"}",
                                      "{\"a\":}",
                                      "{\"a\":1,}",
                                      "{a:1}",
                                      "{1:1}",
                                      "{\"a\" 1}",
                                      "{\"a\":1 \"b\":2}",
                                      "{\"a\"::1}",
                                      "[1}",
                                      "{\"a\":1]",
                                      "1 2",
                                      "{}{}",
                                      "[]]",
                                      "{}}",
                                      "\"\\x\"",
                                      "\"\\u12\"",
                                      "\"\\u12G4\"",
                                      "\"\\\"",
                                      "// c\n1",
                                      "/* c */ 1",
                                      "1 // c",
                                      "[1,2,3]x",
                                      "\v1",
                                      "\xEF\xBB\xBF{}",
                                      "\xC2\xA0"
                                      "1"}) {
    CAPTURE(text);
    CHECK(judge(text) != fault::none);
  }
  CHECK(judge("") == fault::truncated);
  CHECK(judge("  ") == fault::truncated);
  CHECK(judge("[1,") == fault::truncated);
  CHECK(judge("[1,]") == fault::syntax);
}

TEST_CASE("G12: no control character passes inside a string") {
  for (char c = 0; c < 0x20; ++c) {
    CAPTURE(static_cast<int>(c));
    CHECK(judge("\""s + c + "\"") == fault::control_character);
    CHECK(judge("{\"a"s + c + "\":1}") == fault::control_character);
    CHECK(judge("\"" + std::string(40, 'x') + c + std::string(40, 'y') + "\"") == fault::control_character);
  }
  CHECK(judge("[1"s + '\0' + "]") == fault::syntax);
}

TEST_CASE("G12: UTF-8 is strict") {
  for (const std::string_view good : {"\x7f", "\xC2\x80", "\xDF\xBF", "\xE0\xA0\x80", "\xED\x9F\xBF", "\xEE\x80\x80",
                                      "\xEF\xBF\xBF", "\xF0\x90\x80\x80", "\xF4\x8F\xBF\xBF"}) {
    CAPTURE(good);
    CHECK(judge("\"" + std::string(good) + "\"") == fault::none);
  }
  const std::vector<std::string_view> bad = {"\x80",
                                             "\xBF",
                                             "\xC0\x80",
                                             "\xC1\xBF",
                                             "\xC2",
                                             "\xC2\x41",
                                             "\xC2\xC2",
                                             "\xE0\x9F\xBF",
                                             "\xE0\xA0",
                                             "\xED\xA0\x80",
                                             "\xED\xBF\xBF",
                                             "\xE2\x82",
                                             "\xE2\x82\x41",
                                             "\xF0\x8F\xBF\xBF",
                                             "\xF0\x9F\x98",
                                             "\xF4\x90\x80\x80",
                                             "\xF5\x80\x80\x80",
                                             "\xF8\x88\x80\x80\x80",
                                             "\xFE",
                                             "\xFF"};
  for (const std::string_view b : bad) {
    CAPTURE(b);
    const std::string text = "{\"key\":\"" + std::string(b) + "\"}";
    CHECK(judge(text) == fault::utf8);
    CHECK(judge("\"fourteen bytes" + std::string(b) + " and some more behind it\"") == fault::utf8);
    json_scanner tolerant({.max_depth = 8, .tolerate_invalid_utf8 = true});
    CHECK(tolerant.feed(text));
    CHECK(tolerant.finish());
    CHECK(tolerant.saw_invalid_utf8());
  }
}

TEST_CASE("G12: escapes of lone surrogates pass") {
  for (const std::string_view text :
       {R"("\ud800")", R"("\udc00")", R"("\ud800\ud800")", R"("\ud800x")", R"("\uDFFF\uD800")"}) {
    CAPTURE(text);
    CHECK(judge(text) == fault::none);
  }
}

TEST_CASE("G12: nesting of 10^2 to 10^6 levels is refused above the limit and takes no stack") {
  for (const std::size_t levels : {100u, 1000u, 10'000u, 100'000u, 1'000'000u}) {
    CAPTURE(levels);
    const std::string arrays = std::string(levels, '[') + std::string(levels, ']');
    std::string objects;
    for (std::size_t i = 0; i < levels; ++i) objects += "{\"a\":";
    objects += '1' + std::string(levels, '}');
    CHECK(judge(arrays, 256) == (levels <= 256 ? fault::none : fault::depth));
    CHECK(judge(objects, 256) == (levels <= 256 ? fault::none : fault::depth));
    CHECK(judge(arrays, 10'000) == (levels <= 10'000 ? fault::none : fault::depth));
    CHECK(judge(objects, 10'000) == (levels <= 10'000 ? fault::none : fault::depth));
  }
}

TEST_CASE("G12: the depth limit is exact and mixed levels close in order") {
  CHECK(judge("1", 1) == fault::none);
  CHECK(judge("[]", 1) == fault::none);
  CHECK(judge("[[]]", 1) == fault::depth);
  CHECK(judge("[[[]]]", 3) == fault::none);
  CHECK(judge("[[[[]]]]", 3) == fault::depth);
  std::string open, close;
  for (int i = 0; i < 200; ++i) {
    open += i % 3 == 0 ? "[" : "{\"k\":";
    close.insert(0, 1, i % 3 == 0 ? ']' : '}');
  }
  CHECK(judge(open + "0" + close) == fault::none);
  for (std::size_t at = 0; at < close.size(); ++at) {
    std::string wrong = close;
    wrong[at] = wrong[at] == '}' ? ']' : '}';
    CHECK(judge(open + "0" + wrong) == fault::syntax);
  }
}

TEST_CASE("a fault tells its kind and where it is") {
  std::size_t at = 0;
  CHECK(check_json("[1,2,x]", 8, &at) == fault::syntax);
  CHECK(at == 5);
  CHECK(check_json("[1,2", 8, &at) == fault::truncated);
  CHECK(at == 4);
  CHECK(check_json("\"ab\xFF\"", 8, &at) == fault::utf8);
  CHECK(at == 3);
  json_scanner s;
  CHECK_FALSE(s.feed("[}"));
  CHECK_FALSE(s.feed("]"));
  CHECK_FALSE(s.finish());
  CHECK(s.fault_offset() == 1);
  s.reset();
  CHECK(s.feed("[]"));
  CHECK(s.complete());
  CHECK(s.finish());
  CHECK(mcpbx::json::to_string(fault::utf8) == "invalid UTF-8");
}

TEST_CASE("the value is found between blanks and line breaks between tokens are noticed") {
  json_scanner s;
  CHECK(s.feed(" \n {\"a\":1}\r\n"));
  CHECK(s.finish());
  CHECK(s.value_begin() == 3);
  CHECK(s.value_end() == 10);
  CHECK(s.first_byte() == '{');
  CHECK_FALSE(s.saw_line_break());
  s.reset();
  CHECK(s.feed("{\"a\":\n1}"));
  CHECK(s.saw_line_break());
  s.reset();
  CHECK(s.feed("12"));
  CHECK_FALSE(s.complete());
  CHECK(s.finish());
  CHECK(s.complete());
  CHECK(s.value_end() == 2);
}

TEST_CASE("the members of an envelope are found in any order and whatever they hold") {
  const std::string text =
      R"({"result" : {"id":7,"method":["x"]} ,"x":{"id":8},"id":  "a\"b" , "jsonrpc":"2.0","params":[1,{"error":2}],"method":"m/n","error":-1.5e3})";
  CHECK(member(text, envelope_member::result) == R"({"id":7,"method":["x"]})");
  CHECK(member(text, envelope_member::id) == R"("a\"b")");
  CHECK(member(text, envelope_member::jsonrpc) == R"("2.0")");
  CHECK(member(text, envelope_member::params) == R"([1,{"error":2}])");
  CHECK(member(text, envelope_member::method) == R"("m/n")");
  CHECK(member(text, envelope_member::error) == "-1.5e3");
}

TEST_CASE("members inside of arrays and of deeper objects are not the envelope's") {
  for (const std::string_view text : {R"([{"id":1}])", R"(["id",1])", R"({"a":{"id":1},"b":[{"id":2}]})", R"("id")",
                                      R"({"idx":1,"Id":2,"i":3," id":4})"}) {
    CAPTURE(text);
    CHECK(member(text, envelope_member::id).empty());
  }
}

TEST_CASE("keys are compared unescaped") {
  CHECK(member(R"({"\u0069\u0064":5})", envelope_member::id) == "5");
  CHECK(member(R"({"\u006d\u0065\u0074\u0068\u006f\u0064":5})", envelope_member::method) == "5");
  CHECK(member(R"({"\u006A\u0073\u006f\u006e\u0072\u0070\u0063":"2.0"})", envelope_member::jsonrpc) == "\"2.0\"");
  CHECK(member("{\"" + std::string(10'000, 'x') + "\":1,\"id\":2}", envelope_member::id) == "2");
  CHECK(member(R"({"\\u0069d":5})", envelope_member::id).empty());
}

TEST_CASE("G12: a duplicate of an envelope member is noted and the first one stays") {
  json_scanner s;
  REQUIRE(s.feed(R"({"id":1,"x":0,"x":0,"i\u0064":2,"params":{},"result":{"id":3,"id":4}})"));
  REQUIRE(s.finish());
  CHECK(s.envelope().duplicate(envelope_member::id));
  CHECK(s.envelope().duplicates == 1u << static_cast<unsigned>(envelope_member::id));
  CHECK(s.envelope()[envelope_member::id].begin == 6);
  s.reset();
  CHECK(s.envelope().duplicates == 0);
  CHECK_FALSE(s.envelope()[envelope_member::id].present());
}

TEST_CASE("G14: after a fault the members read so far are known") {
  json_scanner s;
  CHECK_FALSE(s.feed("{\"id\":12,\"result\":{\"a\":\x01"));
  CHECK(s.envelope()[envelope_member::id].end == 8);
  CHECK(s.envelope().has_seen(envelope_member::result));
  CHECK_FALSE(s.envelope()[envelope_member::result].present());
  CHECK_FALSE(s.envelope().has_seen(envelope_member::method));
}

}  // namespace

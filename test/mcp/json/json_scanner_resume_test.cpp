// The scanner must say the same however its text is cut.
#include "mcp/json/json_scanner.hpp"
#include "test/mcp/json/random_json.hpp"

#include <doctest/doctest.h>

#include <string>
#include <string_view>
#include <vector>

namespace {

using mcpbx::json::json_scanner;

struct verdict {
  json_scanner::fault fault;
  std::size_t fault_offset, begin, end;
  char first;
  bool line_break, invalid_utf8;
  std::vector<std::size_t> spans;
  unsigned duplicates, seen;
  friend bool operator==(const verdict&, const verdict&) = default;
};

verdict verdict_of(json_scanner& s) {
  s.finish();
  verdict v{s.fault_kind(),          s.fault_offset(),   s.value_begin(),      s.value_end(),
            s.first_byte(),          s.saw_line_break(), s.saw_invalid_utf8(), {},
            s.envelope().duplicates, s.envelope().seen};
  for (const auto& span : s.envelope().members) v.spans.insert(v.spans.end(), {span.begin, span.end});
  return v;
}

verdict cut(std::string_view text, const std::vector<std::size_t>& cuts, bool tolerant) {
  json_scanner s({.max_depth = 20, .tolerate_invalid_utf8 = tolerant});
  std::size_t from = 0;
  for (const std::size_t to : cuts) {
    s.feed(text.substr(from, to - from));
    from = to;
  }
  s.feed(text.substr(from));
  return verdict_of(s);
}

void check_all_cuts(std::string_view text) {
  CAPTURE(text);
  for (const bool tolerant : {false, true}) {
    const verdict whole = cut(text, {}, tolerant);
    for (std::size_t i = 0; i <= text.size(); ++i) CHECK(cut(text, {i}, tolerant) == whole);
    std::vector<std::size_t> each_byte;
    for (std::size_t i = 1; i < text.size(); ++i) each_byte.push_back(i);
    CHECK(cut(text, each_byte, tolerant) == whole);
  }
}

TEST_CASE("every cut of a document gives the same verdict") {
  for (
      const std::string_view text :
      {std::string_view(
           R"( {"jsonrpc":"2.0","\u0069d":-12.50e+3,"method":"tools/call","params":{"a":["\ud83d\ude00","\\",true,false,null,0,1E5]}} )"),
       std::string_view("{\"id\":\"\xF0\x9F\x98\x80\xE2\x82\xAC\xC3\xA9 and plain text that fills more than a "
                        "block\",\"id\":2}\r\n"),
       std::string_view("{\n \"result\": {\"b\": [1, 2.5, -0]},\n \"id\": 1\n}"),
       std::string_view("{\"id\":5,\"error\":{\"code\":1,\"message\":\"bad \xE2\x82 tail\"}}"),
       std::string_view("{\"id\":\"\xF0\x9F\x98\",\"x\":\"\xED\xA0\x80\xFF\"}"),
       std::string_view("{\"id\":5,\"result\":{\"a\":\"line\nbreak\"}}"), std::string_view("[1,2,,3]"),
       std::string_view("{\"id\":01}"), std::string_view("nulx"), std::string_view("-12.5e7"), std::string_view("1."),
       std::string_view("\"\\u12x4\""), std::string_view("[[[[[[[[[[[[[[[[[[[[[[[[]]]]"), std::string_view("{} x"),
       std::string_view("  "), std::string_view("tru")})
    check_all_cuts(text);
}

TEST_CASE("random documents with random damage give the same verdict however they are cut") {
  mcpbx::test::random_json random(3);
  for (int i = 0; i < 1500; ++i) {
    std::string text = random.value(3);
    if (i % 2 == 0) text = random.damaged(std::move(text));
    if (i % 3 == 0) text = R"({"id":)" + text + R"(,"method":)" + text + "}";
    const bool tolerant = i % 5 == 0;
    CAPTURE(text);
    const verdict whole = cut(text, {}, tolerant);
    for (int round = 0; round < 4; ++round) {
      std::vector<std::size_t> cuts;
      for (std::size_t at = random.below(20); at < text.size(); at += random.below(20)) cuts.push_back(at);
      CHECK(cut(text, cuts, tolerant) == whole);
    }
  }
}

}  // namespace

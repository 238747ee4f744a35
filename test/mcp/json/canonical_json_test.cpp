// Canonical JSON: one text for all spellings of a value, another one for every other value.
#include "mcp/json/canonical_json.hpp"

#include <doctest/doctest.h>

#include <string>

using namespace mcpbx;
using namespace mcpbx::json;

namespace {

std::string canonical(std::string_view text) {
  return canonical_json(raw_json::own(text));
}

}  // namespace

TEST_CASE("G37: blanks, escapes and the order of members make no difference") {
  CHECK(canonical(R"({ "b" : [ 1 , {"z":null,"a":true} ] , "a" : "x" })") ==
        R"({"a":"x","b":[1,{"a":true,"z":null}]})");
  CHECK(canonical(R"("\u0061\/\u00e9\n")") == "\"a/\xC3\xA9\\n\"");
  CHECK(canonical(R"({"\u0061":1})") == R"({"a":1})");
  CHECK(canonical("[ ]") == "[]");
  CHECK(canonical("{ }") == "{}");
}

TEST_CASE("G37: what may mean something else keeps its own text") {
  CHECK(canonical("1.0") == "1.0");
  CHECK(canonical("1e400") == "1e400");
  CHECK(canonical("9007199254740993") == "9007199254740993");
  CHECK(canonical(R"({"a":1,"a":2})") == R"({"a":1,"a":2})");
  CHECK(canonical(R"({"a":2,"a":1})") == R"({"a":2,"a":1})");
  CHECK(canonical(R"("\ud800")") == R"("\ud800")");
  CHECK(canonical(R"("\ud800")") != canonical("\"\xEF\xBF\xBD\""));
  CHECK(canonical(R"("\ud83d\ude00")") == "\"\xF0\x9F\x98\x80\"");
}

TEST_CASE("G37: depth costs no stack without end") {
  std::string deep(5'000, '[');
  deep += "{ }" + std::string(5'000, ']');
  // Below the bound blanks count.
  CHECK(canonical(deep) == deep);
}

// Canonical JSON: one text for all spellings of a value, another one for every other value.
#include "daemon/guard/canonical_json.hpp"

#include "daemon/guard/sha256.hpp"

#include <doctest/doctest.h>

#include <string>

using namespace mcpbx;
using namespace mcpbx::daemon;

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

TEST_CASE("sha256_hex gives the digests of the standard") {
  CHECK(sha256_hex("") == "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855");
  CHECK(sha256_hex("abc") == "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad");
}

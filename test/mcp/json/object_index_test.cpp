// Members found by key, with few and with many of them.
#include "mcp/json/object_index.hpp"

#include "mcp/json/raw_json.hpp"
#include "test/mcp/json/random_json.hpp"

#include <doctest/doctest.h>

#include <string>

using namespace mcpbx;
using namespace mcpbx::json;

TEST_CASE("object index: members are found by their unescaped key, and of two the last one") {
  object_index members;
  REQUIRE(members.open(R"({"a":1, "\u0062" : {"a":2},"c\\":[3],"a":"x","d":null})"));
  CHECK(members.size() == 5);
  CHECK(members.find("a") == R"("x")");
  CHECK(members.find("b") == R"({"a":2})");
  CHECK(members.find("c\\") == "[3]");
  CHECK(members.find("d") == "null");
  CHECK(members.find("") == "");
  CHECK(members.find("\"a\"") == "");
}

TEST_CASE("object index: an object of many members keeps them all, and opening another one forgets them") {
  std::string many = "{";
  for (int i = 0; i < 40; ++i) many += (i ? ",\"" : "\"") + std::to_string(i % 30) + "\":" + std::to_string(i);
  many += '}';
  object_index members;
  REQUIRE(members.open(many));
  CHECK(members.size() == 40);
  for (int i = 0; i < 30; ++i) CHECK(members.find(std::to_string(i)) == std::to_string(i < 10 ? i + 30 : i));
  REQUIRE(members.open("{}"));
  CHECK(members.size() == 0);
  CHECK(members.find("0") == "");
}

TEST_CASE("object index: what is no object has no members, and nothing outside of the text is read") {
  object_index members;
  for (const auto* text : {"", "[]", "7", "{\"a\":1", "{\"a\":1}x", "{\"a\"}", "{a:1}", "{\"a\":1,}"}) {
    CAPTURE(text);
    CHECK_FALSE(members.open(text));
    CHECK(members.size() == 0);
    CHECK(members.find("a") == "");
  }
  mcpbx::test::random_json random(11);
  for (int i = 0; i < 5000; ++i) {
    const std::string text = random.damaged("{" + random.value(2) + "}");
    const auto whole = raw_json::own(text);
    if (members.open(whole.text()) && whole.is_object()) CHECK(members.find("a") == find_member(whole, "a").text());
  }
}

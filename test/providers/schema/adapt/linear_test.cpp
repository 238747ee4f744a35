// Tests of the cost of schemas and values of the largest size, or with references to themselves. The work must be
// bounded; without the bounds each of these would take from a minute to years.
#include "providers/schema/adapt/adapt.hpp"
#include "providers/schema/validator/json_schema.hpp"
#include "test/support/sanitized.hpp"

#include <doctest/doctest.h>

#include <string>
#include <string_view>

namespace {

using namespace mcpbx;
using namespace mcpbx::providers::adapt;
using namespace mcpbx::providers::schema;

// `many` texts, with `#` replaced by a number, joined by commas.
std::string listed(int many, std::string_view text) {
  std::string all;
  for (int i = 0; i < many; ++i) {
    if (i > 0) all += ',';
    for (const char c : text)
      if (c == '#')
        all += std::to_string(i);
      else
        all += c;
  }
  return all;
}

bool completes(const std::string& schema, const std::string& value) {
  auto made = json_schema::compile(raw_json::own(schema));
  REQUIRE(made.has_value());
  return made->check(raw_json::own(value)).complete;
}

TEST_CASE("json_schema bounds: what looks at many names or nodes spends a step for each") {
  const auto members = "{" + listed(100'000, R"("p#":1)") + "}", numbers = "[" + listed(500'000, "0") + "]";
  CHECK_FALSE(completes(R"({"allOf":[)" + listed(4000, R"({"propertyNames":true})") + "]}", members));
  CHECK_FALSE(completes(R"({"items":{"allOf":[)" + listed(9000, "true") + "]}}", numbers));
  CHECK_FALSE(completes(R"({"contains":{"anyOf":[)" + listed(9000, "false") + "]}}", numbers));
  CHECK_FALSE(completes(R"({"items":{"dependentRequired":{)" + listed(50'000, R"("p#":[])") + "}}}",
                        "[" + listed(500'000, "{}") + "]"));
}

TEST_CASE("json_schema bounds: long names of members cost as much as long strings") {
  const auto schema = R"({"allOf":[)" + listed(9000, R"({"uniqueItems":true})") + "]}";
  const auto value = "[{\"" + std::string(2'000'000, 'a') + "\":1},{\"" + std::string(2'000'000, 'b') + "\":1}]";
  CHECK_FALSE(completes(schema, value));
}

TEST_CASE("json_schema bounds: all patterns and all references of a schema have a length together") {
  auto patterns =
      json_schema::compile(raw_json::own(R"({"allOf":[)" + listed(9000, R"({"pattern":"(a#{0,100}){0,60}"})") + "]}"));
  REQUIRE(patterns.has_value());
  CHECK(describe(patterns->notes(), "").contains("the patterns before it are too long together"));
  auto references = json_schema::compile(raw_json::own(R"({"$id":"http://a/)" + std::string(900'000, 'x') +
                                                       R"(/","allOf":[)" + listed(4000, R"({"$ref":"a"})") + "]}"));
  CHECK(references.has_value());
}

TEST_CASE("F8: a schema of many names is adapted in linear time") {
  constexpr int many = test::sanitized ? 50'000 : 200'000;
  const std::string head = R"({"type":"object",)";
  for (const auto& schema :
       {head + R"("properties":{)" + listed(many, R"("p#":true)") + "}}",
        head + R"("properties":{)" + listed(many, R"("p#":1)") + "}}",
        head + R"("properties":{)" + listed(many, R"("a $#":{})") + R"(},"required":[)" + listed(many, R"("b $#")") +
            "]}",
        head + R"("required":[)" + listed(many, R"("p#")") + "]}",
        head + R"("allOf":[{"required":[)" + listed(many, R"("p#")") + "]}]}",
        head + R"("anyOf":[)" + listed(many, R"({"required":["p#"],"properties":{"p#":{}}})") + "]}",
        head + R"("anyOf":[)" + listed(many, R"({"properties":{"p":{"const":#}}})") + "]}"}) {
    const auto tool = adapt_tool("t", "d", raw_json::own(schema), "anthropic");
    REQUIRE(tool.has_value());
    CHECK(tool->changes.size() <= max_changes + 1);
    CHECK(tool->description.size() <= 2 * max_description);
  }
}

TEST_CASE("F8: branches that refer to each other are folded with bounded work") {
  const auto tool = adapt_tool(
      "t", "d",
      raw_json::own(R"({"type":"object","anyOf":[{"$ref":"#/$defs/a"}],"$defs":{"a":{"properties":{"q":{}},"allOf":[)" +
                    listed(100, R"({"$ref":"#/$defs/a"})") + "]}}}"));
  REQUIRE(tool.has_value());
  CHECK(tool->schema.text().contains(R"("q":{})"));
}

TEST_CASE("G18: very many names are found in a value whatever order they come in") {
  const auto made =
      json_schema::compile(raw_json::own(R"({"additionalProperties":{"type":"integer"},"required":["x"]})"));
  REQUIRE(made.has_value());
  const auto verdict = made->check(raw_json::own("{" + listed(100'000, R"("z#":1)") + R"(,"x":"y",)" +
                                                 listed(100'000, R"("a long name #":1)") + "}"));
  CHECK(verdict.complete);
  CHECK(describe(verdict.violations, "v") == "- v.x: expected an integer, found the string \"y\"");
}

TEST_CASE("G18: a value of more than a million values is not read, and said so") {
  const auto made = json_schema::compile(raw_json::own(R"({"type":"array"})"));
  REQUIRE(made.has_value());
  const auto check = [&](int many) { return made->check(raw_json::own("[" + listed(many, "0") + "]")); };
  CHECK(check(999'999).complete);
  CHECK(check(1'000'000).unread == "more than a million values");
  const auto members = made->check(raw_json::own("{" + listed(250'001, R"("":0)") + "}"));
  CHECK(members.unread == "more than 250,000 members");
}

}  // namespace

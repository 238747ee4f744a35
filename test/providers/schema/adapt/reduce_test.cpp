// Schemas in the words of APIs that know only a part of JSON Schema.
#include "providers/schema/adapt/reduce.hpp"

#include "providers/schema/adapt/adapt.hpp"
#include "test/providers/schema/real_tools.hpp"

#include <doctest/doctest.h>

#include <algorithm>
#include <array>
#include <string>
#include <vector>

namespace {

using namespace mcpbx;
using namespace mcpbx::json;
using namespace mcpbx::providers::adapt;

std::string for_api(std::string_view api, std::string_view schema) {
  const auto out = schema_for(api, raw_json::parse(schema).value());
  CHECK(raw_json::parse(out.text()).has_value());
  return std::string(out.text());
}

// The path of the first member of a schema that is not among `known`, or "".
std::string stranger(const raw_json& schema, const std::vector<std::string_view>& known, const std::string& path = "") {
  std::string found;
  const auto object = raw_object::open(schema);
  if (!object) return schema.is_object() ? path : "";
  object->for_each([&](std::string_view key, raw_json value) {
    if (!found.empty()) return;
    const auto at = path + "/" + std::string(key);
    if (std::ranges::find(known, key) == known.end()) {
      found = at;
    } else if (key == "properties") {
      raw_object::open(value)->for_each([&](std::string_view name, raw_json s) {
        if (found.empty()) found = stranger(s, known, at + "/" + std::string(name));
      });
    } else if (key == "items" || key == "additionalProperties") {
      found = stranger(value, known, at);
    } else if (key == "anyOf" || key == "prefixItems") {
      for_each_element(value, [&](raw_json s) {
        if (found.empty()) found = stranger(s, known, at);
        return true;
      });
    }
  });
  return found;
}

const std::vector<std::string_view> gemini_words{
    "type",     "title",    "description", "enum",    "format", "items",      "prefixItems",
    "minItems", "maxItems", "minimum",     "maximum", "anyOf",  "properties", "additionalProperties",
    "required"};
const std::vector<std::string_view> ollama_words{"type",  "description", "enum",    "items",
                                                 "anyOf", "properties",  "required"};

TEST_CASE("F8: gemini, schemas: references are resolved and what the API refuses is told in the description") {
  CHECK(
      for_api(
          "gemini",
          R"j({"type":"object","properties":{"p":{"$ref":"#/$defs/a~1b"},"q":{"$ref":"#/$defs/a~1b","description":"own"}},
    "required":["p"],"$defs":{"a/b":{"type":"string","pattern":"^x","minLength":1,"description":"A b."}}})j") ==
      R"j({"type":"object","properties":{"p":{"type":"string","description":"A b. (pattern: \"^x\"; minLength: 1)"},)j"
      R"j("q":{"type":"string","description":"own (pattern: \"^x\"; minLength: 1)"}},"required":["p"]})j");
  CHECK(
      for_api("gemini",
              R"j({"type":"object","properties":{"k":{"const":"v"},"n":{"type":["integer","null"],"minimum":1},
    "b":{"const":true},"e":{"enum":["x",1,null]},"o":{"oneOf":[{"type":"string"},{"type":"number"}]}},"additionalProperties":false})j") ==
      R"j({"type":"object","additionalProperties":false,"properties":{"k":{"enum":["v"]},"n":{"type":["integer","null"],"minimum":1},)j"
      R"j("b":{"description":"(one of: [true])"},"e":{"enum":["x",1],"description":"(one of: [\"x\",1,null])"},)j"
      R"j("o":{"anyOf":[{"type":"string"},{"type":"number"}]}}})j");
}

TEST_CASE("F8: gemini, schemas: the branches of allOf are merged") {
  CHECK(
      for_api(
          "gemini",
          R"j({"type":"object","properties":{"p":{"allOf":[{"type":"object","properties":{"a":{"type":"string"}},"required":["a"]},
    {"$ref":"#/definitions/c"}],"title":"T"}},"definitions":{"c":{"properties":{"b":true,"a":{"type":"number"}},"required":["b","z"]}}})j") ==
      R"j({"type":"object","properties":{"p":{"title":"T","type":"object","properties":{"a":{"type":"string"},"b":{}},"required":["a","b"]}}})j");
}

TEST_CASE("F8: ollama, schemas: only what its structure holds is left, the rest is told in the description") {
  CHECK(
      for_api("ollama",
              R"j({"type":"object","title":"T","properties":{"p":{"type":"string","format":"uri","default":"x"},
    "l":{"type":"array","items":{"oneOf":[{"const":1},{"$ref":"#/$defs/s"}]},"maxItems":3}},"$defs":{"s":{"type":["string","null"]}}})j") ==
      R"j({"type":"object","properties":{"p":{"type":"string","description":"(format: \"uri\"; default: \"x\")"},)j"
      R"j("l":{"type":"array","items":{"anyOf":[{"enum":[1]},{"type":["string","null"]}]},"description":"(maxItems: 3)"}}})j");
}

TEST_CASE("F8: a list without an element is left out, with blanks in it too") {
  for (const auto* api : {"gemini", "ollama"})
    for (const auto* list : {"[]", "[ ]", "[\n]"}) {
      const std::string empty(list);
      CHECK(for_api(api, R"({"properties":{"a":{"enum":)" + empty + R"(,"anyOf":)" + empty + "}}}") ==
            R"({"properties":{"a":{}}})");
    }
}

TEST_CASE(
    "F8: recursive references are cut at the third level with a word on what they are, unknown ones allow any value") {
  const auto tree = for_api(
      "gemini",
      R"j({"type":"object","properties":{"t":{"$ref":"#/$defs/n"},"r":{"$ref":"https://x/y"}},"$defs":{"n":{"type":"object","properties":{"c":{"type":"array","items":{"$ref":"#/$defs/n"}}},"required":["c"]}}})j");
  CHECK(
      tree ==
      R"j({"type":"object","properties":{"t":{"type":"object","properties":{"c":{"type":"array","items":)j"
      R"j({"type":"object","properties":{"c":{"type":"array","items":)j"
      R"j({"type":"object","properties":{"c":{"type":"array","items":)j"
      R"j({"description":"(of the form of the \"n\" that it is part of)"}}},"required":["c"]}}},"required":["c"]}}},"required":["c"]},"r":{}}})j");
  CHECK(for_api("gemini", R"j({"$ref":"#"})j") == R"j({"description":"(of the form of all arguments)"})j");
  CHECK(
      for_api("ollama", R"j({"properties":{"a":{"$ref":"#","description":"A part."}}})j") ==
      R"j({"properties":{"a":{"description":"A part.","properties":{"a":{"description":"A part.","properties":{"a":)j"
      R"j({"description":"A part.","properties":{"a":{"description":"A part. (of the form of all arguments)"}}}}}}}}})j");
}

TEST_CASE("F8: a schema that grows without end when its references are resolved is bounded") {
  std::string bomb = R"j({"type":"object","properties":{"x":{"$ref":"#/$defs/d0"}},"$defs":{)j";
  for (int i = 0; i < 40; ++i) {
    const auto next = R"j({"$ref":"#/$defs/d)j" + std::to_string(i + 1) + "\"}";
    bomb +=
        "\"d" + std::to_string(i) + R"j(":{"type":"object","properties":{"a":)j" + next + R"j(,"b":)j" + next + "}},";
  }
  bomb += R"j("d40":{"type":"string"}}})j";
  CHECK(for_api("gemini", bomb).size() < 2u << 20);
}

TEST_CASE("F8: of many arguments each is there once, also when branches repeat them") {
  std::string first, again, required;
  for (int i = 0; i < 100; ++i) {
    const auto name = "\"a" + std::to_string(i) + "\"";
    first += (i == 0 ? "" : ",") + name + R"j(:{"type":"string"})j";
    again += (i == 0 ? "" : ",") + name + R"j(:{"type":"null"})j";
    required += (i == 0 ? "" : ",") + name;
  }
  CHECK(for_api("ollama", R"j({"properties":{)j" + first + R"j(},"required":[)j" + required + "," + required +
                              R"j(],"allOf":[{"properties":{"\u00615":{},"z":{},)j" + again +
                              R"j(},"required":["\u007a"]}]})j") ==
        R"j({"properties":{)j" + first + R"j(,"z":{}},"required":[)j" + required + R"j(,"z"]})j");
}

TEST_CASE("F8: the tools of real servers become what gemini and ollama state, and none is lost") {
  test::for_each_real_tool([](const raw_json& definition) {
    const auto tool = adapt_tool("t", "", find_member(definition, "inputSchema"));
    REQUIRE(tool.has_value());
    for (const std::string_view api : {"gemini", "ollama"}) {
      const auto schema = schema_for(api, tool->schema);
      CHECK(raw_json::parse(schema.text()).has_value());
      CHECK(stranger(schema, api == "gemini" ? gemini_words : ollama_words) == "");
      CHECK(find_member(schema, "type").text() == "\"object\"");
      // The same arguments by name, and as many of them needed.
      const auto count = [](const raw_json& s, std::string_view key) {
        const auto object = raw_object::open(find_member(s, key));
        return object ? object->size() : for_each_element(find_member(s, key), [](raw_json) { return true; });
      };
      CHECK(count(schema, "properties") == count(tool->schema, "properties"));
      CHECK(count(schema, "required") == count(tool->schema, "required"));
    }
  });
}

TEST_CASE("F8: after the conversion nothing is left that the API does not state") {
  const std::array<std::string_view, 4> schemas{
      R"j({"$schema":"http://json-schema.org/draft-07/schema#","type":"object","properties":{"a":{"type":"string","minLength":1,"contentEncoding":"base64"},
        "b":{"type":"array","items":{"type":"object","patternProperties":{"^x":{}},"additionalProperties":{"type":"string","pattern":"y"}},"uniqueItems":true},
        "c":{"if":{"type":"string"},"then":{"minLength":2},"not":{"const":"z"}}},"required":["a"],"additionalProperties":false})j",
      R"j({"type":"object","properties":{"f":{"anyOf":[{"type":"string","format":"date-time"},{"type":"null"}],"default":null}},"x-vendor":1})j",
      R"j({"type":"object","properties":{"t":{"type":"array","prefixItems":[{"type":"string","examples":["a"]},{"type":"integer","exclusiveMinimum":0}],"items":false}}})j",
      R"j({"$ref":"#/definitions/Args","definitions":{"Args":{"type":"object","properties":{"q":{"type":"string","$comment":"c"}},"required":["q"]}}})j"};
  for (const auto text : schemas) {
    CAPTURE(text);
    const auto tool = adapt_tool("t", "", raw_json::parse(text).value()).value();
    CHECK(stranger(schema_for("gemini", tool.schema), gemini_words) == "");
    CHECK(stranger(schema_for("ollama", tool.schema), ollama_words) == "");
    CHECK(schema_for("openai-chat", tool.schema).text() == tool.schema.text());
  }
  CHECK(for_api("ollama", schemas[3]) ==
        R"j({"type":"object","properties":{"q":{"type":"string"}},"required":["q"]})j");
}

}  // namespace

// The words and the bounds of the validator; its rules are proven by the official suite (suite_test.cpp) and by ajv.
#include "providers/schema/validator/json_schema.hpp"

#include <doctest/doctest.h>

#include <string>
#include <string_view>
#include <vector>

using mcpbx::errc;
using mcpbx::json::raw_json;
using mcpbx::providers::schema::json_schema;
using mcpbx::providers::schema::known_schema;

namespace {

json_schema compiled(std::string_view schema) {
  auto made = json_schema::compile(raw_json::own(schema));
  REQUIRE(made.has_value());
  return std::move(*made);
}

std::string said(std::string_view schema, std::string_view value) {
  return mcpbx::providers::schema::describe(compiled(schema).check(raw_json::own(value)).violations, "arguments");
}

}  // namespace

TEST_CASE("json_schema words: path and form and what was found") {
  CHECK(said(R"({"properties":{"items":{"items":{"properties":{"name":{"type":"string"}}}}}})",
             R"({"items":[{},{},{"name":5}]})") == "- arguments.items[2].name: expected a string, found the number 5");
  CHECK(said(R"({"properties":{"odd key":{"type":["integer","null"]}}})", R"({"odd key":"x"})") ==
        "- arguments[\"odd key\"]: expected an integer or null, found the string \"x\"");
  CHECK(said(R"({"properties":{"u":{"enum":["C","F"]}}})", R"({"u":true})") ==
        "- arguments.u: expected one of \"C\" or \"F\", found true");
  CHECK(said(R"({"enum":[]})", "0") ==
        "- arguments: expected nothing, because the schema allows no value here, found the number 0");
  CHECK(said(R"({"enum":[1,2,3,4,5,6,7,8,9,10,11,12,13,14]})", "0") ==
        "- arguments: expected one of 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12 … (14 in all), found the number 0");
  CHECK(said(R"({"minimum":2})", "1.5") == "- arguments: expected a number of at least 2, found the number 1.5");
  CHECK(said(R"({"minLength":2})", R"("ä")") ==
        "- arguments: expected a string of at least 2 characters, found the string \"ä\"");
  CHECK(said(R"({"uniqueItems":true})", "[1,1.0]") ==
        "- arguments: expected an array without two equal items, found an array of 2 items");
  CHECK(said(R"({"pattern":"^a"})", R"("b")") ==
        "- arguments: expected a string that matches the pattern ^a, found the string \"b\"");
  CHECK(said("false", "1") == "- arguments: expected nothing here, found the number 1");
  CHECK(said(R"({"not":{"const":1}})", "1") == "- arguments: expected anything but 1, found the number 1");
}

TEST_CASE("json_schema words: members that are missing or unknown") {
  CHECK(said(R"({"required":["a","b"]})", R"({"a":1})") == "- arguments: expected the member \"b\", which is missing");
  CHECK(said(R"({"dependentRequired":{"a":["b"]}})", R"({"a":1})") ==
        "- arguments: expected the member \"b\", which is missing (it is required together with \"a\")");
  CHECK(
      said(R"({"properties":{"location":true,"unit":true},"additionalProperties":false})", R"({"locaton":1})") ==
      "- arguments.locaton: expected no such member (did you mean \"location\"?): there is \"location\" and \"unit\"");
  CHECK(said(R"({"additionalProperties":false})", R"({"x":1})") ==
        "- arguments.x: expected no such member: the object must be empty");
}

TEST_CASE("json_schema words: of alternatives the nearest is explained and far ones are listed") {
  const auto* shapes = R"({"oneOf":[{"properties":{"kind":{"const":"a"}},"required":["kind","x"]},
                                    {"properties":{"kind":{"const":"b"}},"required":["kind","y"]}]})";
  CHECK(said(shapes, R"({"kind":"b"})") == "- arguments: expected the member \"y\", which is missing");
  CHECK(said(R"({"anyOf":[{"type":"string"},{"type":"null"}]})", "1") ==
        "- arguments: expected a string or null, found the number 1");
  CHECK(said(R"({"oneOf":[{"minimum":1},{"minimum":2}]})", "3") ==
        "- arguments: expected a value that fits exactly one of 2 forms, found the number 3, which fits 2");
}

TEST_CASE("json_schema words: long values are cut and at most eight violations are told") {
  const auto text = said(R"({"type":"integer"})", "\"" + std::string(10'000, 'x') + "\"");
  CHECK(text.size() < 200);
  CHECK(
      compiled(R"({"items":{"type":"string"}})").check(raw_json::own("[1,2,3,4,5,6,7,8,9,10,11]")).violations.size() ==
      json_schema::max_violations);
}

TEST_CASE("json_schema bounds: size and number of subschemas and depth of a schema") {
  CHECK(json_schema::compile(raw_json::own("{\"title\":\"" + std::string(json_schema::max_text, 'x') + "\"}"))
            .error()
            .code == errc::limit);
  std::string many = R"({"allOf":[)";
  for (std::size_t i = 0; i <= json_schema::max_subschemas; ++i) many += i ? ",{}" : "{}";
  CHECK(json_schema::compile(raw_json::own(many + "]}")).error().code == errc::limit);
  // Each of these makes an address as long as the one that it stands in.
  std::string longs = R"({"$id":"http://h/)" + std::string(500'000, 'a') + R"(/","properties":{"p":true)";
  for (int i = 0; i < 5'000; ++i) longs += ",\"p" + std::to_string(i) + R"(":{"$id":"b"})";
  CHECK(json_schema::compile(raw_json::own(longs + "}}")).error().code == errc::limit);
  std::string deep, ends;
  for (int i = 0; i < 300; ++i) {
    deep += R"({"not":)";
    ends += '}';
  }
  CHECK(json_schema::compile(raw_json::own(deep + "{}" + ends)).error().code == errc::parse);
  CHECK(json_schema::compile(raw_json::own("3")).error().code == errc::invalid_argument);
}

TEST_CASE("json_schema bounds: a check that runs out of steps or depth accepts and says so") {
  const auto circle = compiled(R"({"$ref":"#"})").check(raw_json::own("1"));
  CHECK(circle.violations.empty());
  CHECK_FALSE(circle.complete);
  // 2^30 ways to fail.
  std::string schema = R"({"$defs":{"d0":{"type":"string"})";
  for (int i = 1; i <= 30; ++i) {
    const auto below = R"({"$ref":"#/$defs/d)" + std::to_string(i - 1) + "\"}";
    schema += ",\"d" + std::to_string(i) + "\":{\"anyOf\":[" + below + "," + below + "]}";
  }
  const auto wide = compiled(schema + R"(},"$ref":"#/$defs/d30"})").check(raw_json::own("1"));
  CHECK(wide.violations.empty());
  CHECK_FALSE(wide.complete);
  const auto tree = compiled(R"({"properties":{"next":{"$ref":"#"}},"type":"object"})");
  std::string value, ends;
  for (int i = 0; i < 250; ++i) {
    value += R"({"next":)";
    ends += '}';
  }
  CHECK(tree.check(raw_json::own(value + "{}" + ends)).complete);
  CHECK(tree.check(raw_json::own(value + "1" + ends)).violations.size() == 1);
}

TEST_CASE("json_schema: what cannot be checked is accepted and noted") {
  const auto schema = compiled(R"({"properties":{"a":{"$ref":"https://example.com/x"},"b":{"pattern":"(?<=a)b"},
                                   "c":{"minLength":"3"},"d":{"type":"any"},"e":{"$ref":"#/$defs/none"}}})");
  CHECK(mcpbx::providers::schema::describe(schema.notes(), "schema") ==
        "- schema.properties.a.$ref: expected a reference to a schema in the same document, found the string "
        "\"https://example.com/x\"\n"
        "- schema.properties.b.pattern: expected a regular expression that can be checked (look-behind is not "
        "supported), found the string \"(?<=a)b\"\n"
        "- schema.properties.c.minLength: expected an integer of at least 0, found the string \"3\"\n"
        "- schema.properties.d.type: expected \"null\", \"boolean\", \"object\", \"array\", \"number\", \"string\", "
        "\"integer\" or an array of these, found the string \"any\"\n"
        "- schema.properties.e.$ref: expected a reference to a schema in the same document, found the string "
        "\"#/$defs/none\"");
  CHECK(schema.check(raw_json::own(R"({"a":1,"b":"x","c":"","d":1,"e":1})")).violations.empty());
}

TEST_CASE("json_schema: what is not checked is named by its place in the schema") {
  const auto place = [](std::string_view text) {
    const auto notes = compiled(text).notes();
    REQUIRE(notes.size() == 1);
    return notes.front().path + ": " + notes.front().expected;
  };
  CHECK(place(R"({"properties":5})") == ".properties: an object of schemas");
  CHECK(place(R"({"properties":{"a b":7}})") == R"(.properties["a b"]: a schema: an object, true or false)");
  CHECK(place(R"({"items":{"anyOf":[true,{"required":"a"}]}})") == ".items.anyOf[1].required: an array of strings");
  CHECK(place(R"({"$ref":"#/here","here":{"not":{"enum":1}}})") == ".$ref.not.enum: an array");
  CHECK(place(R"({"patternProperties":{"(":true}})").starts_with(".patternProperties: a regular expression"));
  std::string deep = R"({"enum":0})";
  for (int i = 0; i < 100; ++i) deep = R"({"not":)" + deep + "}";
  CHECK(place(deep).starts_with("….not.not"));
  CHECK(place(deep).size() < 200);
}

TEST_CASE("json_schema: the older tuple form of items and big integers") {
  CHECK(said(R"({"items":[{"type":"string"}],"additionalItems":false})", R"(["a",1])") ==
        "- arguments[1]: expected nothing here, found the number 1");
  CHECK(said(R"({"maximum":9007199254740992})", "9007199254740993") != "");
  CHECK(said(R"({"const":18446744073709551615})", "18446744073709551615") == "");
  CHECK(said(R"({"const":9223372036854775807})", "9223372036854775808") != "");
  CHECK(said(R"({"type":"integer"})", "1e300") == "");
  CHECK(said(R"({"multipleOf":0.01})", "19.99") == "");
  CHECK(said(R"({"multipleOf":0.01})", "19.995") != "");
}

TEST_CASE("json_schema: references lead into known schemas, whatever the order") {
  const std::vector<known_schema> known{
      {"https://example.com/list", raw_json::own(R"({"items":{"$ref":"item#plain"},"minItems":"none"})")},
      {"https://example.com/item", raw_json::own(R"({"$defs":{"a":{"$anchor":"plain","$id":"deep","type":"string"},
                                                             "b":{"$anchor":"plain","type":"integer"}}})")},
      {"https://example.com/broken", raw_json::own("7")},
      {"https://example.com/unused", raw_json::own(R"({"type":"nothing"})")}};
  // "deep" is named inside of "item", which only "list" leads to.
  const auto made = json_schema::compile(raw_json::own(R"({"$id":"https://example.com/","properties":{
      "deep":{"$ref":"deep"},"list":{"$ref":"list"},"broken":{"$ref":"broken"},"gone":{"$ref":"gone"}}})"),
                                         known);
  REQUIRE(made.has_value());
  const auto wrong = [&](std::string_view value) {
    return mcpbx::providers::schema::describe(made->check(raw_json::own(value)).violations, "arguments");
  };
  CHECK(wrong(R"({"deep":"a","list":[1,2],"broken":1,"gone":1})") == "");
  CHECK(wrong(R"({"deep":1})") == "- arguments.deep: expected a string, found the number 1");
  CHECK(wrong(R"({"list":[1,"a"]})") == "- arguments.list[1]: expected an integer, found the string \"a\"");
  // A fault in a known schema is reported with the way there; schemas without references to them are not checked.
  CHECK(mcpbx::providers::schema::describe(made->notes(), "schema") ==
        "- schema.properties.broken.$ref: expected a reference to a schema in the same document, found the string "
        "\"broken\"\n"
        "- schema.properties.gone.$ref: expected a reference to a schema in the same document, found the string "
        "\"gone\"\n"
        "- schema.properties.list.$ref.minItems: expected an integer of at least 0, found the string \"none\"");
}

TEST_CASE("json_schema: without known schemas a reference to the metaschema accepts everything and is noted") {
  const auto schema = compiled(R"({"$schema":"https://json-schema.org/draft/2020-12/schema",
                                   "$ref":"https://json-schema.org/draft/2020-12/schema"})");
  CHECK(schema.notes().size() == 1);
  CHECK(schema.check(raw_json::own(R"({"type":1})")).violations.empty());
}

TEST_CASE("json_schema: a known metaschema says which vocabularies mean anything") {
  const std::vector<known_schema> known{{"https://example.com/meta", raw_json::own(R"({"$vocabulary":{
          "https://json-schema.org/draft/2020-12/vocab/core":true,
          "https://json-schema.org/draft/2020-12/vocab/validation":false,
          "https://example.com/vocab/units":true,"https://example.com/vocab/colours":false}})")}};
  const auto make = [&](std::string_view text) {
    auto made = json_schema::compile(raw_json::own(text), known);
    REQUIRE(made.has_value());
    return std::move(*made);
  };
  const auto schema = make(R"({"$schema":"https://example.com/meta#","properties":{"a":false},"required":["a"],
                               "$ref":"#/$defs/whole","$defs":{"whole":{"$id":"whole","type":"object"},
                               "other":{"$id":"other","$schema":"https://example.com/unknown","properties":7}}})");
  CHECK(schema.check(raw_json::own(R"({"a":1})")).violations.empty());  // no applicators
  CHECK(schema.check(raw_json::own("{}")).violations.size() == 1);      // validation
  CHECK(schema.check(raw_json::own("[]")).violations.size() == 1);      // in an inner resource as well
  CHECK(mcpbx::providers::schema::describe(schema.notes(), "schema") ==
        "- schema.$schema: expected a metaschema that requires no vocabulary but those of 2020-12, found the string "
        "\"https://example.com/meta#\"\n"
        "- schema.$defs.other.properties: expected an object of schemas, found the number 7");
}

TEST_CASE("json_schema bounds: known schemas count as the schema does") {
  const auto with = [](std::string text, std::string_view schema = R"({"$ref":"urn:known"})") {
    const std::vector<known_schema> known{{"urn:known", raw_json::own(text)}};
    return json_schema::compile(raw_json::own(schema), known);
  };
  CHECK(with("{\"title\":\"" + std::string(json_schema::max_text, 'x') + "\"}", "{}").error().message ==
        "the known schemas are larger than 1 MiB");
  std::string many = R"({"allOf":[)";
  for (std::size_t i = 0; i < json_schema::max_subschemas; ++i) many += i ? ",{}" : "{}";
  CHECK(with(many + "]}").error().code == errc::limit);
  CHECK(with(many + "]}", "{}").has_value());
  // Each of these makes an address as long as the one that it stands in.
  std::string longs = R"({"$id":"http://h/)" + std::string(500'000, 'a') + R"(/","properties":{"p":true)";
  for (int i = 0; i < 5'000; ++i) longs += ",\"p" + std::to_string(i) + R"(":{"$id":"b"})";
  CHECK(json_schema::compile(raw_json::own(longs + "}}")).error().code == errc::limit);
  std::string deep, ends;
  for (int i = 0; i < 300; ++i) {
    deep += R"({"not":)";
    ends += '}';
  }
  const auto unread = with(deep + "{}" + ends);
  REQUIRE_FALSE(unread.has_value());
  CHECK(unread.error().code == errc::parse);
  CHECK(unread.error().message.starts_with("the known schema urn:known cannot be read: "));
  // A circle through two documents ends as one within a document does.
  const auto circle = with(R"({"$ref":"urn:first"})", R"({"$id":"urn:first","$ref":"urn:known"})");
  REQUIRE(circle.has_value());
  CHECK_FALSE(circle->check(raw_json::own("1")).complete);
}

// Schemas as the models' APIs accept them.
#include "providers/schema/adapt/adapt.hpp"

#include "mcp/support/text.hpp"
#include "providers/model/names.hpp"
#include "providers/schema/adapt/annotations.hpp"
#include "providers/schema/adapt/sound.hpp"
#include "providers/schema/validator/json_schema.hpp"
#include "test/providers/schema/real_tools.hpp"

#include <doctest/doctest.h>

#include <algorithm>
#include <string>
#include <vector>

namespace {

using namespace mcpbx;
using namespace mcpbx::json;
using namespace mcpbx::providers;
using namespace mcpbx::providers::adapt;
using namespace mcpbx::providers::schema;

std::string adapted(std::string_view schema) {
  auto tool = adapt_tool("t", "d", schema.empty() ? raw_json() : raw_json::literal(schema));
  REQUIRE(tool.has_value());
  CHECK(raw_json::parse(tool->schema.text()).has_value());
  return std::string(tool->schema.text());
}

TEST_CASE("F8: a schema that is fine keeps its bytes") {
  const auto fine =
      R"({ "type" : "object", "properties" : {"a":{"type":"string","format":"uri","pattern":"^x"}}, "additionalProperties":false, "required":["a"], "$defs":{"x":{"type":"number"}} })";
  CHECK(adapted(fine) == fine);
}

TEST_CASE("F8: what is missing or no object becomes an empty object schema") {
  const std::string empty = R"({"type":"object","properties":{}})";
  CHECK(adapted("") == empty);
  CHECK(adapted("true") == empty);
  CHECK(adapted("null") == empty);
  CHECK(adapted("{}") == empty);
  CHECK(adapted(R"({"type":"object"})") == empty);
  CHECK(adapted(R"({"type":["object","null"],"properties":{}})") == empty);
}

TEST_CASE("F8: dialect and identity words are dropped at the top, definitions stay") {
  CHECK(
      adapted(
          R"({"$schema":"http://json-schema.org/draft-07/schema#","$id":"x","$comment":"y","type":"object","properties":{},"$defs":{"a":{}}})") ==
      R"({"type":"object","properties":{},"$defs":{"a":{}}})");
}

TEST_CASE("F8: combinators at the top are folded into properties and said in words") {
  const auto any =
      adapt_tool("t", "Does it.",
                 raw_json::literal(R"({"type":"object","properties":{"x":{"type":"string"}},"required":["x"],
      "anyOf":[{"properties":{"a":{"type":"string"}},"required":["a"]},{"properties":{"b":{"type":"number"}},"required":["b"]}]})"))
          .value();
  CHECK(find_member(any.schema, "properties").text() ==
        R"({"x":{"type":"string"},"a":{"type":"string"},"b":{"type":"number"}})");
  CHECK(find_member(any.schema, "required").text() == R"(["x"])");
  CHECK_FALSE(find_member(any.schema, "anyOf"));
  CHECK(any.description == "Does it. Give at least one of these sets of arguments: (a) or (b).");
  const auto all =
      adapt_tool(
          "t", "",
          raw_json::literal(
              R"({"allOf":[{"$ref":"#/$defs/p"},{"properties":{"b":{}},"required":["b"]}],"$defs":{"p":{"properties":{"a":{}},"required":["a"]}}})"))
          .value();
  CHECK(find_member(all.schema, "required").text() == R"(["a","b"])");
  CHECK(find_member(all.schema, "type").text() == "\"object\"");
  const auto one =
      adapt_tool(
          "t", "",
          raw_json::literal(
              R"({"oneOf":[{"properties":{"k":{"const":1}}},{"properties":{"k":{"const":2}}}],"not":{"required":["z"]}})"))
          .value();
  CHECK(find_member(one.schema, "properties").text() == R"({"k":{"anyOf":[{"const":1},{"const":2}]}})");
  CHECK(one.description.find("not match") != std::string::npos);
}

TEST_CASE("F8: children that are no schemas are dropped, arrays get items, at any depth") {
  CHECK(
      adapted(
          R"({"type":"object","properties":{"type":"object","a":{"type":"array"},"b":true,"c":{"type":"object","properties":{"d":1,"e":{"type":"array","items":[{"type":"string"}]}}}}})") ==
      R"({"type":"object","properties":{"a":{"type":"array","items":{}},"b":{},"c":{"type":"object","properties":{"e":{"type":"array","items":{},"prefixItems":[{"type":"string"}]}}}}})");
}

TEST_CASE("F8: a tool whose arguments are no object is left out with the reason") {
  const auto tool = adapt_tool("bad", "", raw_json::literal(R"({"type":"array","items":{}})"));
  REQUIRE_FALSE(tool.has_value());
  CHECK(tool.error().message.find("The tool \"bad\" is left out") == 0);
  CHECK_FALSE(adapt_tool("bad", "", raw_json::literal(R"({"type":["string","null"]})")).has_value());
}

TEST_CASE("F8: descriptions are cleaned and capped") {
  const auto clean = adapt_tool("t",
                                "a\x1b[2Jb\xE2\x80\xAE"
                                "c\nd",
                                {})
                         .value();
  CHECK(clean.description.find('\x1b') == std::string::npos);
  CHECK(clean.description.find("\xE2\x80\xAE") == std::string::npos);
  CHECK(clean.description.find('\n') != std::string::npos);
  CHECK(adapt_tool("t", std::string(10'000, 'x'), {}).value().description.size() <= max_description);
}

TEST_CASE("F8: titles and descriptions inside of a schema are cleaned, capped and told, for every API") {
  const std::string odd = R"(q\u202e\u200b\u0007\u001b[31m\udb40\udc41h)";
  const std::string schema =
      R"({"type":"object","title":"ti\u202etle","properties":{"p":{"type":"string","description":")" + odd +
      std::string(20'000, 'M') + R"("},"l":{"type":"array","items":{"anyOf":[{"title":"a\u200b\nb"}]}}}})";
  for (const std::string_view api : {"openai-chat", "openai-responses", "anthropic", "gemini", "ollama"}) {
    CAPTURE(api);
    const auto tool = adapt_tool("t", "", raw_json::own(schema), api).value();
    const auto& text = tool.schema.text();
    CHECK(text.find("\\u") == text.npos);
    CHECK(text.find("\xE2\x80\xAE") == text.npos);
    CHECK(text.find("\xE2\x80\x8B") == text.npos);
    const auto p = member_text(find_member(find_member(tool.schema, "properties"), "p"), "description");
    CHECK(p.starts_with("q[31mhMMM"));
    CHECK(p.ends_with("M…"));
    CHECK(p.size() == max_annotation);
  }
  const auto changes = adapt_tool("t", "", raw_json::own(schema)).value().changes;
  REQUIRE(changes.size() == 3);
  CHECK(changes[0] == "inputSchema.title loses characters that are not seen");
  CHECK(changes[1] ==
        "inputSchema.properties.p.description loses characters that are not seen and is cut after 8192 bytes");
  CHECK(changes[2] == "inputSchema.properties.l.items.anyOf[0].title loses characters that are not seen");
}

TEST_CASE("F8: data in a schema and texts with nothing to clean keep their bytes") {
  for (
      const std::string_view same :
      {R"j({ "type":"object", "properties":{"description":{"enum":["\u00e9a"],"default":{"description":"\\u200b"}}} })j",
       R"j({"type":"object","properties":{"title":{"const":"👨‍👩‍👧","examples":[{"title":"می‌خواهم"}],"description":"d\u00e9j\u00e0 — \"vu\"\n"}},"x-own":{"description":"a"}})j"}) {
    const auto tool = adapt_tool("t", "", raw_json::literal(same)).value();
    CHECK(tool.schema.text().data() == same.data());
    CHECK(tool.changes.empty());
  }
  // Beside a text that is cleaned, too.
  CHECK(adapted(R"j({"type":"object", "properties":{"a":{"enum":[1.0,"\u00e9"], "title":"\u200bx"}, "b":{}}})j") ==
        R"j({"type":"object", "properties":{"a":{"enum":[1.0,"\u00e9"], "title":"x"}, "b":{}}})j");
}

TEST_CASE("F8: hidden text in names and values of a schema reaches no model either, and that is told") {
  const auto tool =
      adapt_tool("t", "",
                 raw_json::own(R"j({"type":"object","properties":{"a\udb40\udc41":{"enum":["b\u202ec"]},)j"
                               R"j("d":{"default":"e\udb40\udd00f","examples":["\u200bg"]}},"x":"\u0007h"})j"))
          .value();
  CHECK(tool.schema.text() ==
        R"j({"type":"object","properties":{"a":{"enum":["bc"]},"d":{"default":"ef","examples":["g"]}},"x":"h"})j");
  CHECK(tool.changes == std::vector<std::string>{"inputSchema loses characters that are not seen, in names or values"});
  const auto folded = adapt_tool("t", "",
                                 raw_json::own(R"j({"anyOf":[{"properties":{"a\u200b":{}},"required":["a\u200b"]},)j"
                                               R"j({"properties":{"b":{}},"required":["b"]}]})j"))
                          .value();
  CHECK(folded.description.find("\xE2\x80\x8B") == std::string::npos);
}

TEST_CASE("F8: a name that becomes a keyword without its hidden characters is treated as that keyword") {
  const auto tool = adapt_tool("t", "",
                               raw_json::own(R"j({"$defs":{"n":{"\u007fproperties":{"c":{"$ref":"!"},"d":1}}},)j"
                                             R"j("\u200btype":"ob\u2060ject","$ref":"#/$defs/n"})j"))
                        .value();
  CHECK(tool.schema.text().find(R"("$ref":"!")") == std::string::npos);
  CHECK(tool.schema.text().find(R"("d":1)") == std::string::npos);
  const auto again = adapt_tool("t", "", tool.schema).value();
  CHECK(again.schema.text() == tool.schema.text());
  CHECK(again.changes.empty());
}

TEST_CASE("F8: a schema of great depth is passed and does not overflow the stack") {
  std::string deep;
  for (int i = 0; i < 120; ++i) deep += R"({"type":"object","properties":{"a":)";
  deep += "{}";
  for (int i = 0; i < 120; ++i) deep += "}}";
  const auto schema = raw_json::parse(deep, 1000);
  REQUIRE(schema.has_value());
  CHECK(adapt_tool("t", "", *schema).value().schema.text() == deep);
}

TEST_CASE("F8: keywords with values that the standard does not allow are mended or dropped, at any depth") {
  const auto one = [](std::string_view property) {
    const auto all = adapted(R"({"type":"object","properties":{"a":)" + std::string(property) + "}}");
    return std::string(find_member(find_member(raw_json::own(all), "properties"), "a").text());
  };
  CHECK(one(R"({"type":"any","required":true})") == "{}");
  CHECK(one(R"({"type":["string","str","string","null"]})") == R"({"type":["string","null"]})");
  CHECK(one(R"({"type":["date"]})") == "{}");
  CHECK(one(R"({"minimum":1,"exclusiveMinimum":true,"exclusiveMaximum":false})") == R"({"exclusiveMinimum":1})");
  CHECK(one(R"({"exclusiveMinimum":1.5,"minLength":3.0})") == R"({"exclusiveMinimum":1.5,"minLength":3.0})");
  CHECK(one(R"({"minLength":"3","maxLength":-1,"maximum":"9","description":7,"uniqueItems":"yes"})") == "{}");
  CHECK(one(R"({"enum":"a","examples":{},"pattern":null,"additionalProperties":"no"})") == "{}");
  CHECK(one(R"({"anyOf":[],"oneOf":[{"type":"string"},"x"],"allOf":{}})") == R"({"oneOf":[{"type":"string"}]})");
  CHECK(one(R"({"enum":[ ],"anyOf":[ ],"type":[  ],"oneOf":[ "x" ],"prefixItems":[ ]})") == "{}");
  CHECK(one(R"({"items":[ ]})") == R"({"items":{}})");
  CHECK(one(R"({"anyOf":[{"type":"int"},{"items":{"required":"x"}}],"not":{"type":"any"}})") ==
        R"({"anyOf":[{},{"items":{}}],"not":{}})");
  CHECK(adapted(R"({"type":"object","properties":{"a":{}},"required":["a","a",1]})") ==
        R"({"type":"object","properties":{"a":{}},"required":["a"]})");
}

TEST_CASE("F8: a reference that leads to nothing or out of the schema becomes any value that says so, for every API") {
  const std::string_view lost =
      R"j({"type":"object","properties":{"a":{"$ref":"#/$defs/none"},"b":{"type":"array","items":{"$ref":"https://x/y","description":"Own \u00e9."}},"c":{"$ref":"#/$defs/ok"},"d":{"default":{"$ref":"#/none"}}},"$defs":{"ok":{"type":"string"}}})j";
  const std::string_view mended =
      R"j({"type":"object","properties":{"a":{"description":"(its form is told by \"#/$defs/none\", which is not known here)"},"b":{"type":"array","items":{"description":"Own é. (its form is told by \"https://x/y\", which is not known here)"}},"c":{"$ref":"#/$defs/ok"},"d":{"default":{"$ref":"#/none"}}},"$defs":{"ok":{"type":"string"}}})j";
  for (const std::string_view api : {"openai-chat", "openai-responses", "anthropic", "azure", "dial"}) {
    CAPTURE(api);
    CHECK(adapt_tool("t", "", raw_json::literal(lost), api).value().schema.text() == mended);
  }
  const auto tool = adapt_tool("t", "", raw_json::literal(lost)).value();
  REQUIRE(tool.changes.size() == 2);
  CHECK(
      tool.changes[0] ==
      R"(inputSchema.properties.a.$ref: expected a reference to a schema in the same document, found the string "#/$defs/none")");
  CHECK(
      tool.changes[1] ==
      R"(inputSchema.properties.b.items.$ref: expected a reference to a schema in the same document, found the string "https://x/y")");
  for (const std::string_view api : {"gemini", "ollama"}) {
    const auto a =
        find_member(find_member(adapt_tool("t", "", raw_json::literal(lost), api).value().schema, "properties"), "a");
    CHECK(a.text() == R"j({"description":"(its form is told by \"#/$defs/none\", which is not known here)"})j");
  }
}

TEST_CASE("F8: references that lead to a schema in the same document keep its bytes") {
  for (
      const std::string_view good :
      {R"j({"type":"object","properties":{"$ref":{"type":"string"},"a":{"$ref":"#"},"b":{"$ref":"#/properties/a%62"},"ab":{"$ref":"#n"}},"$defs":{"x":{"$anchor":"n"}}})j",
       R"j({"type":"object","properties":{"a":{"$ref":"y"}},"$defs":{"x":{"$id":"y","$defs":{"i":{}},"items":{"$ref":"#/$defs/i"}}}})j",
       R"j({"type":"object","properties":{"a":{"$ref":"#/own/x~1y/0"},"b":{"$dynamicRef":"#n"}},"own":{"x/y":[{"$ref":"#/$defs/d"}]},"$defs":{"d":{"$dynamicAnchor":"n"}}})j"}) {
    CAPTURE(good);
    CHECK(adapted(good) == good);
  }
  // Schemas that only a reference reaches are repaired as well; values that are no schemas are not.
  CHECK(
      adapted(R"j({"type":"object","properties":{"a":{"$ref":"#/own/x"}},"own":{"x":{"$ref":"#/type"}}})j") ==
      R"j({"type":"object","properties":{"a":{"$ref":"#/own/x"}},"own":{"x":{"description":"(its form is told by \"#/type\", which is not known here)"}}})j");
}

TEST_CASE("F8: a reference into what folding takes away is mended as one to nothing") {
  const auto tool =
      adapt_tool("t", "",
                 raw_json::literal(R"j({"anyOf":[{"properties":{"a":{},"b":{"$ref":"#/anyOf/0/properties/a"}}}]})j"))
          .value();
  CHECK(find_member(find_member(tool.schema, "properties"), "b").text().find("not known here") != std::string::npos);
  CHECK(tool.changes.size() == 1);
}

TEST_CASE("F8: what is taken out of a schema is told by its place, each once and not without end") {
  const auto changes_of = [](std::string_view schema, std::string_view api = "openai-chat") {
    return adapt_tool("t", "", raw_json::own(schema), api).value().changes;
  };
  CHECK(changes_of(R"({"type":"object","properties":{"a":true,"b":{}}})").empty());
  CHECK(
      changes_of(
          R"({"type":"object","properties":{"type":"object","a":{"items":{"properties":{"x y":[]}}}},"$defs":{"d":null}})") ==
      std::vector<std::string>{"inputSchema.properties.type is no schema and goes",
                               R"(inputSchema.properties.a.items.properties["x y"] is no schema and goes)",
                               "inputSchema.$defs.d is no schema and goes"});
  CHECK(changes_of(R"({"type":"object","properties":{"$top":{},"a":{}}})", "anthropic") ==
        std::vector<std::string>{
            "the argument \"$top\" goes, because this model's API takes only names of 64 letters, digits, _ . and -"});
  CHECK(changes_of(R"({"type":"object","properties":{"$top":{},"a":{}}})").empty());
  std::string many = R"({"type":"object","properties":{"0":1)";
  for (int i = 1; i < 99; ++i) many += ",\"" + std::to_string(i) + "\":1";
  const auto changes = changes_of(many + "}}");
  REQUIRE(changes.size() == max_changes + 1);
  CHECK(changes.back() == "and " + std::to_string(99 - max_changes) + " more of this kind");
}

TEST_CASE("F8: in what was mended nothing is left to mend, and a sound schema is known without being taken apart") {
  constexpr int levels = 64;
  test::for_each_real_tool([](const raw_json& definition) {
    const auto tool = adapt_tool("t", "", find_member(definition, "inputSchema")).value();
    const auto& schema = tool.schema;
    CHECK(tool.changes.empty());
    CHECK(is_sound(schema.text(), levels));
    CHECK(adapt_tool("t", "", schema).value().schema.text().data() == schema.text().data());
  });
  for (const auto* sound :
       {R"({})", R"( { "type" : [ "array" , "null" ] , "items" : { } } )", R"({"enum":[1],"required":["a","b"]})",
        R"({"not":false,"additionalItems":true,"x-own":[true,{"type":"no"}],"default":{"type":"no"}})",
        R"({"exclusiveMinimum":-1,"minLength":3.0,"uniqueItems":true,"examples":[],"$ref":"#","dependentRequired":{}})",
        R"({"properties":{"a":{"anyOf":[{},true]}},"patternProperties":{},"prefixItems":[{"type":"null"}]})"})
    CHECK(is_sound(trimmed(sound), levels));
  for (const auto* doubtful : {R"({"type":"any"})",
                               R"({"type":["string","string"]})",
                               R"({"type":[]})",
                               R"({"type":"array"})",
                               R"({"enum":[]})",
                               R"({"enum":[ ]})",
                               R"({"anyOf":[ ]})",
                               R"({"required":["a","a"]})",
                               R"({"required":[1]})",
                               R"({"minimum":"1"})",
                               R"({"exclusiveMinimum":true})",
                               R"({"minLength":-1})",
                               R"({"uniqueItems":1})",
                               R"({"description":null})",
                               R"({"examples":{}})",
                               R"({"properties":{"a":true}})",
                               R"({"properties":[]})",
                               R"({"items":true})",
                               R"({"items":[{}]})",
                               R"({"anyOf":[]})",
                               R"({"anyOf":["x"]})",
                               R"({"not":[]})",
                               R"({"additionalItems":1})",
                               R"({"dependentRequired":[]})",
                               R"({"not":{"items":{"allOf":[{"$defs":{"a":{"if":{"type":"x"}}}}]}}})",
                               "true",
                               "[]",
                               ""})
    CHECK_FALSE(is_sound(doubtful, levels));
  CHECK(is_sound(R"({"not":{"type":"x"}})", 0));  // below the last level
}

// Returns the reason why OpenAI's or Anthropic's API would refuse a tool with `schema`, or "".
std::string refused(const raw_json& schema, const std::string& at = "") {
  const auto object = raw_object::open(schema);
  if (!object) return schema.is_true() || schema.text() == "false" ? "" : at + " is no schema";
  if (object->find("type").as_string().value_or("") == "array" && !object->find("items") &&
      !object->find("prefixItems"))
    return at + " has no items";
  std::string found;
  const auto look = [&](raw_json s, const std::string& where) {
    if (found.empty()) found = refused(s, where);
    return true;
  };
  object->for_each([&](std::string_view key, raw_json value) {
    const auto where = at + "/" + std::string(key);
    if (key == "properties" || key == "$defs" || key == "definitions" || key == "patternProperties")
      raw_object::open(value)->for_each(
          [&](std::string_view name, raw_json s) { look(s, where + "/" + std::string(name)); });
    else if (key == "items" || key == "additionalProperties" || key == "not" || key == "propertyNames")
      look(value, where);
    else if (key == "anyOf" || key == "oneOf" || key == "allOf" || key == "prefixItems")
      for_each_element(value, [&](raw_json s) { return look(s, where); });
  });
  return found;
}

// Anthropic's rule for the names of arguments; inside of them it takes any.
bool takes_argument_names(const raw_json& schema) {
  bool all = true;
  raw_object::open(find_member(schema, "properties"))->for_each([&](std::string_view name, raw_json) {
    all = all && name.size() <= 64 && !name.empty() && std::ranges::all_of(name, [](char c) {
            return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_' || c == '.' ||
                   c == '-';
          });
  });
  return all;
}

TEST_CASE("F8: the tools of real servers become what OpenAI's and Anthropic's APIs take, and none is lost") {
  test::for_each_real_tool([](const raw_json& definition) {
    for (const std::string_view api : {"openai-chat", "openai-responses", "anthropic", "azure", "dial"}) {
      CAPTURE(api);
      const auto tool =
          adapt_tool("t", member_text(definition, "description"), find_member(definition, "inputSchema"), api);
      REQUIRE(tool.has_value());
      const auto& schema = tool->schema;
      CHECK(member_text(schema, "type") == "object");
      CHECK(find_member(schema, "properties").is_object());
      for (const auto* word : {"anyOf", "oneOf", "allOf", "not", "enum", "$schema", "$id", "$comment"})
        CHECK_FALSE(find_member(schema, word));
      CHECK(refused(schema) == "");
      if (api == "anthropic") CHECK(takes_argument_names(schema));
      CHECK(json_schema::compile(schema).has_value());
      CHECK(is_model_name(model_name(member_text(definition, "name"))));
      CHECK(tool->description.size() <= max_description);
    }
  });
}

TEST_CASE("F8: anthropic: optional arguments with names that it refuses go, a required one leaves the tool out") {
  const auto fit = [](std::string_view schema) { return adapt_tool("t", "", raw_json::own(schema), "anthropic"); };
  const std::string_view odd =
      R"({"type":"object","properties":{"$top":{"type":"integer"},"a.b-c_1":{"properties":{"x y":{}}}},"required":["a.b-c_1"]})";
  CHECK(fit(odd).value().schema.text() ==
        R"({"type":"object","properties":{"a.b-c_1":{"properties":{"x y":{}}}},"required":["a.b-c_1"]})");
  CHECK(adapted(odd) == odd);
  const auto left = fit(R"({"type":"object","properties":{"x y":{}},"required":["x y"]})");
  REQUIRE_FALSE(left.has_value());
  CHECK(left.error().message.find("\"x y\"") != std::string::npos);
  CHECK_FALSE(fit(R"({"type":"object","properties":{")" + std::string(65, 'n') + R"(":{}},"required":[")" +
                  std::string(65, 'n') + "\"]}")
                  .has_value());
}

}  // namespace

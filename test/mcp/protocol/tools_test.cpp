// Tool definitions, good and bad, one by one.
#include "mcp/protocol/tools.hpp"

#include <doctest/doctest.h>

#include <string>

using namespace mcpbx;
using namespace mcpbx::json;
using namespace mcpbx::mcp::protocol;

TEST_CASE("G15: a good definition is read and keeps its bytes") {
  const auto definition = raw_json::literal(
      R"({"name":"a.b","title":"T","description":"d \u00e9","inputSchema":{"$schema":"x","type":"object"},"annotations":{"readOnlyHint":true,"destructiveHint":false,"title":"A"},"zzz":1})");
  const auto tool = read_tool(definition);
  REQUIRE(tool.has_value());
  CHECK(tool->key == "a.b");
  CHECK(tool->description == "d \xC3\xA9");
  CHECK(tool->title == "A");
  CHECK(tool->read_only);
  CHECK_FALSE(tool->destructive);
  CHECK_FALSE(tool->idempotent);
  CHECK(tool->open_world);
  CHECK(tool->definition.text().data() == definition.text().data());
}

TEST_CASE("G15: a schema without a type and any JSON Schema for the output are good") {
  CHECK(read_tool(raw_json::literal(R"({"name":"a","inputSchema":{}})")).has_value());
  CHECK(read_tool(raw_json::literal(R"({"name":"a","inputSchema":{},"outputSchema":true})")).has_value());
  CHECK(read_tool(raw_json::literal(R"({"name":"a","inputSchema":{},"outputSchema":{"type":"array"}})")).has_value());
}

TEST_CASE(
    "F8: a definition without a schema of its arguments, or with null or true for one, is good and keeps its bytes") {
  for (const auto* text :
       {R"({"name":"a"})", R"({"name":"a","inputSchema":null})", R"({"name":"a","inputSchema":true})"}) {
    CAPTURE(text);
    const auto tool = read_tool(raw_json::literal(text));
    REQUIRE(tool.has_value());
    CHECK(tool->definition.text() == text);
  }
}

TEST_CASE("G15: a bad definition is refused with a reason") {
  const std::pair<const char*, const char*> table[] = {
      {"null", "must be an object"},
      {"42", "must be an object"},
      {"[]", "must be an object"},
      {R"({"inputSchema":{}})", "name must be a string"},
      {R"({"name":7,"inputSchema":{}})", "name must be a string"},
      {R"({"name":"","inputSchema":{}})", "1 to 128 bytes"},
      {R"({"name":"a\nb","inputSchema":{}})", "control characters"},
      {R"({"name":"a","inputSchema":false})", "tool \"a\": inputSchema is false, so that no arguments fit it"},
      {R"({"name":"a","inputSchema":"object"})", "inputSchema must be an object"},
      {R"({"name":"a","inputSchema":[]})", "inputSchema must be an object"},
      {R"({"name":"a","inputSchema":{"type":"string"}})", "inputSchema.type"},
      {R"({"name":"a","inputSchema":{},"description":42})", "description must be a string"},
      {R"({"name":"a","inputSchema":{},"outputSchema":3})", "outputSchema must be a JSON Schema"},
      {R"({"name":"a","inputSchema":{},"annotations":[]})", "annotations must be an object"},
      {R"({"name":"a","inputSchema":{},"annotations":{"readOnlyHint":"yes"}})",
       "annotations.readOnlyHint must be true or false"},
      {R"({"name":"a","name":"b","inputSchema":{}})", "duplicate member"},
  };
  for (const auto& [text, why] : table) {
    CAPTURE(text);
    const auto tool = read_tool(raw_json::literal(text));
    REQUIRE_FALSE(tool.has_value());
    CHECK(tool.error().message.find(why) != std::string::npos);
  }
  const auto too_long = "{\"name\":\"" + std::string(129, 'x') + "\",\"inputSchema\":{}}";
  CHECK_FALSE(read_tool(raw_json::own(too_long)).has_value());
}

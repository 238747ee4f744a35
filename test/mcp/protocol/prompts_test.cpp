// Definitions of prompts, resources and templates, good and bad, one by one.
#include "mcp/protocol/prompts.hpp"

#include "mcp/protocol/resources.hpp"

#include <doctest/doctest.h>

#include <string>
#include <utility>

using namespace mcpbx;
using namespace mcpbx::json;
using namespace mcpbx::mcp::protocol;

TEST_CASE("a good prompt is read and keeps its bytes") {
  const auto definition = raw_json::literal(
      R"({"name":"sum up","title":"T","description":"d","arguments":[{"name":"a","title":"A","description":"x","required":true},{"name":"b","y":1}],"icons":[],"_meta":{"k":1},"zzz":1})");
  const auto prompt = read_prompt(definition);
  REQUIRE(prompt.has_value());
  CHECK(prompt->key == "sum up");
  CHECK(prompt->definition.text().data() == definition.text().data());
  CHECK(read_prompt(raw_json::literal(R"({"name":"a"})")).has_value());
}

TEST_CASE("G15: a bad prompt is refused with a reason") {
  const std::pair<const char*, const char*> table[] = {
      {"[]", "must be an object"},
      {R"({"title":"a"})", "name must be a string"},
      {R"({"name":""})", "1 to 128 bytes"},
      {R"({"name":"a\u0007"})", "control characters"},
      {R"({"name":"a","name":"b"})", "duplicate member"},
      {R"({"name":"a","description":null})", "prompt \"a\": description must be a string"},
      {R"({"name":"a","arguments":{}})", "arguments must be an array"},
      {R"({"name":"a","arguments":["x"]})", "an argument must be an object"},
      {R"({"name":"a","arguments":[{"description":"x"}]})", "an argument's name must be a string"},
      {R"({"name":"a","arguments":[{"name":"x"},{"name":"y","required":"yes"}]})",
       "an argument's required must be true or false"},
      {R"({"name":"a","_meta":1})", "_meta must be an object"},
  };
  for (const auto& [text, why] : table) {
    CAPTURE(text);
    const auto prompt = read_prompt(raw_json::literal(text));
    REQUIRE_FALSE(prompt.has_value());
    CHECK(prompt.error().message.find(why) != std::string::npos);
  }
}

TEST_CASE("a good resource and a good template are read and keep their bytes") {
  const auto definition = raw_json::literal(
      R"({"uri":"ui://app/x","name":"x","title":"T","description":"d","mimeType":"text/html","size":12,"annotations":{"audience":["user","assistant"],"priority":0.5,"lastModified":"2026-01-01T00:00:00Z","own":1},"icons":[{}],"_meta":{"ui":{}},"zzz":1})");
  const auto resource = read_resource(definition);
  REQUIRE(resource.has_value());
  CHECK(resource->key == "ui://app/x");
  CHECK(resource->definition.text().data() == definition.text().data());
  const auto made = read_template(raw_json::literal(R"({"uriTemplate":"file:///{+path}","name":"files"})"));
  REQUIRE(made.has_value());
  CHECK(made->key == "file:///{+path}");
}

TEST_CASE("G15: a bad resource or template is refused with a reason") {
  const std::pair<const char*, const char*> table[] = {
      {"7", "a resource definition must be an object"},
      {R"({"name":"a"})", "uri must be a string"},
      {R"({"uri":"","name":"a"})", "uri must have 1 to 8192 bytes"},
      {R"({"uri":"a:\u0000","name":"a"})", "control characters"},
      {R"({"uri":"a:b"})", "resource \"a:b\": name must be a string"},
      {R"({"uri":"a:b","name":"a","size":"1"})", "size must be a number"},
      {R"({"uri":"a:b","name":"a","mimeType":1})", "mimeType must be a string"},
      {R"({"uri":"a:b","name":"a","annotations":[]})", "annotations must be an object"},
      {R"({"uri":"a:b","name":"a","annotations":{"audience":["nobody"]}})", "annotations.audience must hold"},
      {R"({"uri":"a:b","name":"a","annotations":{"priority":1.5}})", "annotations.priority must be between 0 and 1"},
      {R"({"uri":"a:b","name":"a","annotations":{"priority":"high"}})", "annotations.priority must be a number"},
      {R"({"uri":"a:b","name":"a","annotations":{"lastModified":1}})", "annotations.lastModified must be a string"},
  };
  for (const auto& [text, why] : table) {
    CAPTURE(text);
    const auto resource = read_resource(raw_json::literal(text));
    REQUIRE_FALSE(resource.has_value());
    CHECK(resource.error().message.find(why) != std::string::npos);
  }
  const auto long_one = "{\"uri\":\"a:" + std::string(longest_uri, 'x') + R"(","name":"a"})";
  CHECK_FALSE(read_resource(raw_json::own(long_one)).has_value());
  const auto made = read_template(raw_json::literal(R"({"uri":"a:b","name":"a"})"));
  REQUIRE_FALSE(made.has_value());
  CHECK(made.error().message == "uriTemplate must be a string");
}

TEST_CASE("the table of kinds has prompts, resources and templates, and the last two share a capability") {
  REQUIRE(feature_kinds().size() == 4);
  CHECK(prompt_kind().list_method == "prompts/list");
  CHECK(resource_kind().capability == template_kind().capability);
  CHECK(resource_kind().changed == template_kind().changed);
  CHECK(template_kind().key_member == "uriTemplate");
  CHECK(template_kind().plural() == "resource templates");
}
